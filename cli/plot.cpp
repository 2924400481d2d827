#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/experiment/experiment.h"
#include "piddm/files/atomic_file.h"
#include "piddm/plot/animation.h"
#include "piddm/plot/ensemble_plot.h"
#include "piddm/plot/field_plots.h"
#include "piddm/plot/picture_file.h"
#include "piddm/plot/statistic_plots.h"
#include "piddm/plot/time_plots.h"
#include "piddm/solve/task/observation_file.h"
#include "piddm/tables/pictures.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct PlotArguments {
  std::string input, out, kind, reference, observe;
  int64_t n = 4, first = 0;
};

const std::vector<std::string> kKinds = {"samples", "mean",   "std",         "quantiles", "trajectories",
                                         "spectra", "curves", "calibration", "animation", "ensemble"};

constexpr int64_t kMostDrawn = 1000;
constexpr int64_t kReferenceSamples = 32, kReferenceFirst = int64_t{1} << 40;
constexpr int64_t kFrames = 60;
constexpr double kFrameSeconds = 0.08;

std::vector<int64_t> chosen_samples(const Dataset& data, const PlotArguments& o) {
  require<UsageError>(o.first < data.size(), "--first {}: {} has {} samples", o.first, o.input, data.size());
  std::vector<int64_t> samples;
  for (int64_t i = o.first; i < std::min(o.first + o.n, data.size()); ++i) samples.push_back(i);
  return samples;
}

Figure spectra_of(const Context& context, const Dataset& data, const Pde& pde, const PlotArguments& o) {
  if (!o.reference.empty())
    return draw_spectra(data, pde, load_dataset(o.reference).fields, fs::path(o.reference).filename().string());
  require<UsageError>(pde.has_law(), "[{}] has no law whose spectra to draw: add --reference FILE", pde.name());
  const int64_t n = std::min(kReferenceSamples, data.size());
  return draw_spectra(data, pde, make_dataset(pde, context.seed, kReferenceFirst, n).fields, "law");
}

Figure samples_of(const Context& context, const Dataset& data, const PdePtr& pde, const PlotArguments& o) {
  const auto name = fs::path(o.input).filename().string();
  if (o.reference.empty() && o.observe.empty()) return draw_samples(data, pde, chosen_samples(data, o), name);
  require<UsageError>(!o.reference.empty(), "--observe goes with --reference: the truth whose sensors it has");
  Truth truth{.fields = load_dataset(o.reference).fields};
  if (!o.observe.empty()) {
    require<UsageError>(pde != nullptr, "--observe: {} does not say which PDE it is of", o.input);
    truth.mask = read_observation(o.observe, Task::reconstruct, *pde, context.seed).observation.mask;
  }
  return draw_against_truth(data, pde, truth, chosen_samples(data, o), name);
}

Figure figure_of(const Context& context, const Dataset& data, const PdePtr& pde, const PlotArguments& o) {
  const auto name = fs::path(o.input).filename().string();
  const Tensor reference = o.reference.empty() ? Tensor() : load_dataset(o.reference).fields;
  if (o.kind == "samples") return samples_of(context, data, pde, o);
  if (o.kind == "mean") return draw_mean(data, pde, reference, "Mean of " + name);
  if (o.kind == "std") return draw_deviation(data, pde, reference, "Standard deviation of " + name);
  if (o.kind == "quantiles") return draw_quantiles(data, pde, "Quantiles of " + name);
  if (o.kind == "calibration") {
    require<UsageError>(reference.defined(), "--kind calibration needs true samples: add --reference FILE");
    return draw_calibration(data, pde, reference, "Calibration of " + name);
  }
  require<UsageError>(pde != nullptr, "{}: does not say which PDE it is of, so {} cannot be drawn", o.input, o.kind);
  if (o.kind == "trajectories") return draw_trajectories(data, *pde, chosen_samples(data, o));
  return spectra_of(context, data, *pde, o);
}

void write_animation(const Dataset& data, const Pde& pde, const PlotArguments& o) {
  require<ResourceError>(can_draw(), "this build has no Cairo, so it draws no animations");
  require<UsageError>(picture_format(o.out) == PictureFormat::png, "--kind animation: an animated PNG, not {}", o.out);
  std::vector<std::string> frames;
  for (const auto& figure : draw_frames(data, pde, chosen_samples(data, o), kFrames))
    frames.push_back(render(figure, PictureFormat::png, picture_style().dpi).bytes);
  write_file_atomically(o.out, animated_png(frames, kFrameSeconds));
}

fs::path plot_data(const Context& context, const PlotArguments& o) {
  if (o.kind == "ensemble")
    return write_picture(
        draw_ensemble_file(o.input, o.first, o.reference.empty() ? Tensor() : load_dataset(o.reference).fields), o.out,
        picture_style().dpi);
  const auto data = load_dataset(o.input);
  const auto pde = data.description.pde.empty() ? nullptr : pde_of(data);
  if (pde) check_matches(data, *pde);
  if (o.kind != "animation") return write_picture(figure_of(context, data, pde, o), o.out, picture_style().dpi);
  require<UsageError>(pde != nullptr, "{}: does not say which PDE it is of, so it cannot be animated", o.input);
  write_animation(data, *pde, o);
  return o.out;
}

/// Where a picture goes that was given no name.
std::string default_output(const PlotArguments& o, bool run) {
  if (run) return o.input + "/" + picture_name("curves");
  auto path = fs::path(o.input);
  const auto suffix = o.kind == "samples" ? "" : "-" + o.kind;
  return path.replace_filename(picture_name(path.stem().string() + suffix)).string();
}

void check_arguments(const Context& context, PlotArguments& o, bool run) {
  if (o.kind.empty()) o.kind = run ? "curves" : is_ensemble_file(o.input) ? "ensemble" : "samples";
  if (std::find(kKinds.begin(), kKinds.end(), o.kind) == kKinds.end())
    throw UsageError("--kind: {}", unknown_name_message("choice", o.kind, kKinds));
  require<UsageError>((o.kind == "curves") == run, "--kind {}: {}", o.kind,
                      run ? "a run folder has curves only" : "curves are those of a run folder");
  if (o.out.empty()) o.out = default_output(o, run);
  check_picture(context, o.out, {o.input, o.reference, o.observe});
}

/// Pictures of a report, or of figures that a build without Cairo kept.
std::vector<fs::path> plot_kept(const PlotArguments& o) {
  require<UsageError>(o.out.empty() && o.kind.empty(), "{}: its pictures are drawn beside it, without --out or --kind",
                      o.input);
  const auto& [extension, dpi] = picture_style();
  const fs::path input = o.input;
  if (input.extension() == ".figure") return {draw_kept_figure(input, dpi, extension)};
  const auto report = fs::is_directory(input) ? input / "report.json" : input;
  const auto drawn = draw_report(report, dpi, extension);
  require<UsageError>(!drawn.empty(), "{}: no charts and no kept figures; the command that wrote it draws its pictures",
                      report.string());
  return drawn;
}

bool is_kept(const fs::path& input) {
  if (fs::is_directory(input)) return fs::exists(input / "report.json") || !kept_figures(input).empty();
  return input.extension() == ".figure" || input.filename() == "report.json";
}

void plot(const Context& context, PlotArguments o) {
  std::vector<fs::path> drawn;
  if (is_kept(o.input)) {
    drawn = plot_kept(o);
  } else {
    const bool run = fs::is_directory(o.input);
    check_arguments(context, o, run);
    drawn = {run ? write_picture(draw_training(o.input), o.out, picture_style().dpi) : plot_data(context, o)};
  }
  std::vector<std::string> names;
  for (const auto& file : drawn) names.push_back(file.string());
  context.print({{"out", names.size() == 1 ? json(names.front()) : json(names)}},
                fmt::format("{}", fmt::join(names, "\n")));
}

}  // namespace

void add_plot(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "plot", "Draw data or samples, the curves of a run, or the pictures of a report");
  auto o = std::make_shared<PlotArguments>();
  command->add_option("input", o->input, "data or sample file, run folder, report.json, or a kept .figure")->required();
  command->add_option(
      "--kind", o->kind,
      "samples (default: fields and residuals), mean, std, quantiles, trajectories (u(x) at several "
      "times), spectra, calibration, animation; ensemble (default of its files); curves of a run folder");
  command->add_option("--reference", o->reference,
                      "data file to compare with: truth and error of samples, mean, std, spectra (default: fresh draws "
                      "of the law), calibration");
  command->add_option("--observe", o->observe, "observation file whose sensors are drawn on the truth");
  command->add_option("--n", o->n, "samples to draw; more than 8 are a contact sheet")
      ->check(whole_number(1, kMostDrawn))
      ->capture_default_str();
  command->add_option("--first", o->first, "first sample to draw")
      ->check(whole_number(0, int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--out", o->out, "picture to write, .png, .svg or .pdf; default: beside the input");
  add_picture_options(*command, context);
  command->callback([&context, o] { context.run = [&context, o] { plot(context, *o); }; });
}

}  // namespace piddm::cli
