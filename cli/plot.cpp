#include "piddm/plot/plot.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/experiment/experiment.h"
#include "piddm/plot/field_plots.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct PlotArguments {
  std::string input, out, kind = "samples", reference;
  int64_t n = 4;
};

constexpr int64_t kMostDrawn = 1000;  // a picture of a thousand rows is hard enough to look at
constexpr int64_t kReferenceSamples = 32, kReferenceFirst = int64_t{1} << 40;

std::vector<int64_t> first_samples(const Dataset& data, int64_t n) {
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < std::min(n, data.size()); ++i) samples.push_back(i);
  return samples;
}

Canvas draw_file_spectra(const Context& context, const Dataset& data, const Pde& pde, const PlotArguments& o) {
  if (!o.reference.empty())
    return draw_spectra(data, pde, load_dataset(o.reference).fields, fs::path(o.reference).filename().string());
  const int64_t n = std::min(kReferenceSamples, data.size());
  return draw_spectra(data, pde, make_dataset(pde, context.seed, kReferenceFirst, n).fields, "law");
}

Canvas draw_file(const Context& context, const PlotArguments& o) {
  const auto data = load_dataset(o.input);
  const auto pde = data.description.pde.empty() ? nullptr : pde_of(data);
  if (pde) check_matches(data, *pde);
  const auto name = fs::path(o.input).filename().string();
  if (o.kind == "samples") return draw_samples(data, pde, first_samples(data, o.n), name);
  require<UsageError>(pde != nullptr, "{}: does not say which PDE it is of, so only samples can be drawn", o.input);
  if (o.kind == "trajectories") return draw_trajectories(data, *pde, first_samples(data, o.n));
  if (o.kind == "spectra") return draw_file_spectra(context, data, *pde, o);
  throw UsageError("--kind: {}", unknown_name_message("picture", o.kind, {"samples", "trajectories", "spectra"}));
}

std::string default_output(const PlotArguments& o, bool run) {
  if (run) return o.input + "/curves.png";
  auto path = fs::path(o.input);
  const auto suffix = o.kind == "samples" ? "" : "-" + o.kind;
  return path.replace_filename(path.stem().string() + suffix + ".png").string();
}

void plot(const Context& context, PlotArguments o) {
  const bool run = fs::is_directory(o.input);
  if (o.out.empty()) o.out = default_output(o, run);
  check_output(o.out, {".png"}, {o.input, o.reference});
  if (run)
    plot_training(o.input, o.out);
  else
    draw_file(context, o).write_png(o.out);
  context.print({{"out", o.out}}, o.out);
}

}  // namespace

void add_plot(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "plot", "Draw samples, trajectories or spectra, or the curves of a run");
  auto o = std::make_shared<PlotArguments>();
  command->add_option("input", o->input, "data or sample file, or run folder")->required();
  command
      ->add_option("--kind", o->kind,
                   "samples (fields and residual maps), trajectories (u(x) at several times) or spectra")
      ->capture_default_str();
  command->add_option("--reference", o->reference,
                      "spectra: data file to compare with; default: fresh draws of the law");
  command->add_option("--n", o->n, "samples to draw")->check(whole_number(1, kMostDrawn))->capture_default_str();
  command->add_option("--out", o->out, "PNG to write; default: beside the input");
  command->callback([&context, o] { context.run = [&context, o] { plot(context, *o); }; });
}

}  // namespace piddm::cli
