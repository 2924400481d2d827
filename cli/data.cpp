#include "cli/command.h"
#include "cli/data_commands.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/core/table.h"
#include "piddm/data/check/data_check.h"
#include "piddm/data/shards.h"
#include "piddm/pde/pde_file.h"
#include "piddm/plot/field_plots.h"
#include "piddm/plot/picture_file.h"

namespace piddm::cli {

namespace {

struct Make {
  std::string pde;
  GridSize grid = 0;
  std::vector<std::string> parameters;
  MakeOptions make;
  std::string out, dtype = "float32";
};

struct CheckRequest {
  std::string file, pde, constraint, plot;
  std::vector<std::string> parameters;
  CheckOptions options;
};

constexpr size_t kDrawn = 4;

void make(const Context& context, Make o) {
  check_output(o.out, {".npz", ".safetensors"});
  auto& range = o.make.range;
  require<UsageError>(o.make.shards <= range.n, "--shards {}: more than the {} samples of --n", o.make.shards, range.n);
  require<UsageError>(o.dtype == "float32" || o.dtype == "float64", "--dtype {}: float32 or float64", o.dtype);
  auto options = pde_named(o.pde);
  if (o.grid != GridSize(0)) options.grid = o.grid;
  for (const auto& setting : o.parameters) apply_setting(options.parameters, setting);
  range.dtype = o.dtype == "float64" ? torch::kFloat64 : torch::kFloat32;
  range.seed = context.seed;
  // The same bits on every machine unless a device is asked for.
  range.device = context.device_name == "auto" ? torch::Device(torch::kCPU) : context.device();
  const auto made = make_data_files(o.out, *make_pde(options), o.make);
  const auto kept = made.kept > 0 ? fmt::format(", {} of {} files kept", made.kept, o.make.shards) : "";
  context.print({{"out", made.path.string()}, {"kept", made.kept}, {"description", made.description}},
                fmt::format("{}: {} samples of {} on a {} grid{}", made.path.string(), range.n, options.name,
                            options.grid.text(), kept));
}

PdePtr checked_pde(const Dataset& data, const CheckRequest& request) {
  auto options = pde_of(data, request.pde)->options();
  for (const auto& setting : request.parameters) apply_setting(options.parameters, setting);
  return make_pde(options);
}

/// Which checks failed and, where one sample is to blame, which: for the one line on standard error.
std::string failures(const CheckReport& report) {
  std::string text;
  for (const auto& check : report.checks)
    if (!check.pass())
      text += fmt::format("{}{}{}", text.empty() ? "" : "; ", check.name,
                          check.note.empty() ? "" : " (" + check.note + ")");
  return text;
}

void draw_worst(const Dataset& data, const PdePtr& pde, const CheckReport& report, const std::string& out) {
  std::vector<int64_t> samples;
  for (const auto& worst : report.worst)
    if (samples.size() < kDrawn) samples.push_back(worst.sample);
  require<DataError>(!samples.empty(), "--plot {}: nothing to draw, the data are not finite", out);
  write_picture(draw_samples(data, pde, samples, "Worst samples", true), out, picture_style().dpi);
}

void check(const Context& context, CheckRequest request) {
  if (!request.plot.empty()) check_picture(context, request.plot, {request.file});
  const auto data = load_dataset(request.file, Faults::keep);
  const auto pde = checked_pde(data, request);
  if (!request.constraint.empty()) request.options.constraint = make_constraint(load_config(request.constraint), *pde);
  request.options.file = request.file;
  request.options.pde = request.pde;
  const auto report = check_dataset(data, *pde, request.options);
  context.print(report.to_json(), report.text());
  if (!request.plot.empty()) draw_worst(data, pde, report, request.plot);
  require<DataError>(report.pass(), "{}: the data do not pass: {}", request.file, failures(report));
}

void info(const Context& context, const std::string& file) {
  const auto data = load_dataset(file);
  Table table({"channel", "shape", "mean", "std", "min", "max"});
  json channels = json::object();
  for (size_t c = 0; c < data.channels.size(); ++c) {
    const auto x = data.fields.select(1, static_cast<int64_t>(c)).to(torch::kFloat64);
    const double mean = x.mean().item<double>(), std = x.std(false).item<double>(), low = x.min().item<double>(),
                 high = x.max().item<double>();
    table.add_row({data.channels[c], shape_string(x), format_number(mean), format_number(std), format_number(low),
                   format_number(high)});
    channels[data.channels[c]] = {{"mean", mean}, {"std", std}, {"min", low}, {"max", high}};
  }
  context.print({{"file", file}, {"n", data.size()}, {"channels", channels}, {"description", describe(data)}},
                fmt::format("{} samples{} on a {} grid\n\n{}\n{}", data.size(),
                            data.description.pde.empty() ? "" : " of " + data.description.pde, data.grid().text(),
                            table.text(), describe(data).dump(2)));
}

void add_make(CLI::App& data, Context& context) {
  auto* command = add_command(data, context, "make", "Generate samples of a PDE from its law: same seed, same file");
  auto o = std::make_shared<Make>();
  o->make.range.n = 1000;
  command->add_option("pde", o->pde, "which PDE: a name of `piddm list pdes`, or FILE.toml with one of your own")
      ->required();
  command->add_option("--n", o->make.range.n, "samples")->check(whole_number(1, kMostSamples))->capture_default_str();
  add_grid_option(*command, o->grid, "points per side: 64, or 64x32 along x and y (or t); default: 128, or the file's");
  command->add_option("--param", o->parameters, "constant of the equation, e.g. k=2; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--first", o->make.range.first, "number of the first sample of the seed's stream")
      ->check(whole_number(0, kLargestFirst))
      ->capture_default_str();
  command->add_option("--shards", o->make.shards, "files to split the samples into; more than one get an index .json")
      ->check(whole_number(1, 99999))
      ->capture_default_str();
  command->add_flag("--resume", o->make.resume, "keep the files of an earlier run that are finished and whole");
  command->add_option("--dtype", o->dtype, "float32 or float64")->capture_default_str();
  command->add_option("--out", o->out, "file to write: .npz or .safetensors")->required();
  command->callback([&context, o] { context.run = [&context, o] { make(context, *o); }; });
}

void add_check(CLI::App& data, Context& context) {
  auto* command = add_command(data, context, "check",
                              "Judge a data file sample by sample: residual, boundary, law, parameters, own solution");
  auto o = std::make_shared<CheckRequest>();
  command->add_option("file", o->file, "data file, or the .json index of shards")->required();
  command->add_option("--pde", o->pde, "PDE, or FILE.toml with one, where the file does not say or says wrong");
  command->add_option("--param", o->parameters, "constant of the equation that replaces the declared one, e.g. nu=0.02")
      ->allow_extra_args(false);
  command->add_option("--constraint", o->constraint, "FILE.toml with a condition all samples must satisfy");
  command->add_flag("--all", o->options.all, "solve every sample again, however long that takes");
  command->add_option("--tolerance", o->options.tolerance, "largest relative distance of u from u*(a)")
      ->check(number_above(0, 1))
      ->capture_default_str();
  command->add_option("--plot", o->plot, "picture of the worst samples, .png, .svg or .pdf");
  add_picture_options(*command, context);
  command->callback([&context, o] { context.run = [&context, o] { check(context, *o); }; });
}

}  // namespace

void add_data(CLI::App& app, Context& context) {
  auto* data = app.add_subcommand("data", "Make, import, export, check and look at data files");
  data->require_subcommand(1);
  add_make(*data, context);
  add_check(*data, context);
  auto file = std::make_shared<std::string>();
  add_import(*data, context);
  add_export(*data, context);
  auto* info_command = add_command(*data, context, "info", "Show channels, statistics and origin of a data file");
  info_command->add_option("file", *file, "data file, or the .json index of shards")->required();
  info_command->callback([&context, file] { context.run = [&context, file] { info(context, *file); }; });
}

}  // namespace piddm::cli
