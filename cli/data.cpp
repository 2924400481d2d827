#include "cli/command.h"
#include "piddm/core/config.h"
#include "piddm/data/data_check.h"
#include "piddm/data/dataset.h"
#include "piddm/eval/table.h"

namespace piddm::cli {

namespace {

struct MakeOptions {
  PdeOptions pde;
  int64_t n = 1000;
  int64_t first = 0;
  std::string out, dtype = "float32";
};

PdePtr pde_of(const Dataset& data, const std::string& name, const std::string& file) {
  PdeOptions options;
  options.name = name.empty() ? data.description.value("pde", std::string()) : name;
  require<UsageError>(!options.name.empty(), "{}: does not say which PDE it is of; add --pde", file);
  options.grid = data.fields.size(-1);
  return make_pde(options);
}

void make(const Context& context, const MakeOptions& o) {
  check_output(o.out, {".npz", ".safetensors"});
  require<UsageError>(o.n >= 1, "--n {}: must be at least 1", o.n);
  require<UsageError>(o.first >= 0, "--first {}: must not be negative", o.first);
  require<UsageError>(o.dtype == "float32" || o.dtype == "float64", "--dtype {}: float32 or float64", o.dtype);
  const auto dtype = o.dtype == "float64" ? torch::kFloat64 : torch::kFloat32;
  const auto data = make_dataset(*make_pde(o.pde), context.seed, o.first, o.n, 256, dtype);
  save_dataset(o.out, data, dtype);
  context.print({{"out", o.out}, {"description", data.description}},
                fmt::format("{}: {} samples of {} on a {}x{} grid", o.out, o.n, o.pde.name, o.pde.grid, o.pde.grid));
}

void check(const Context& context, const std::string& file, const std::string& pde) {
  const auto data = load_dataset(file);
  const auto report = check_dataset(data, *pde_of(data, pde, file));
  context.print(report, format_check(report));
  require<DataError>(report.at("pass").get<bool>(), "{}: the data do not pass the check", file);
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
  context.print({{"file", file}, {"n", data.size()}, {"channels", channels}, {"description", data.description}},
                table.text() + "\n" + data.description.dump(2));
}

}  // namespace

void add_data(CLI::App& app, Context& context) {
  auto* data = app.add_subcommand("data", "Make, check and look at data files");
  data->require_subcommand(1);

  auto* make_command =
      add_command(*data, context, "make", "Generate samples of a PDE from its law: same seed, same file");
  auto options = std::make_shared<MakeOptions>();
  make_command->add_option("pde", options->pde.name, "name of the PDE; see `piddm list pdes`")->required();
  make_command->add_option("--n", options->n, "samples")->capture_default_str();
  make_command->add_option("--grid", options->pde.grid, "points a side")->capture_default_str();
  make_command->add_option("--first", options->first, "number of the first sample of the seed's stream")
      ->capture_default_str();
  make_command->add_option("--dtype", options->dtype, "float32 or float64")->capture_default_str();
  make_command->add_option("--out", options->out, "file to write: .npz or .safetensors")->required();
  make_command->callback([&context, options] { context.run = [&context, options] { make(context, *options); }; });

  auto file = std::make_shared<std::string>(), pde = std::make_shared<std::string>();
  auto* check_command =
      add_command(*data, context, "check", "Judge a data file: residual, ranges, constraints, reference solve");
  check_command->add_option("file", *file, "data file")->required();
  check_command->add_option("--pde", *pde, "PDE, where the file does not say");
  check_command->callback(
      [&context, file, pde] { context.run = [&context, file, pde] { check(context, *file, *pde); }; });

  auto* info_command = add_command(*data, context, "info", "Show channels, statistics and origin of a data file");
  info_command->add_option("file", *file, "data file")->required();
  info_command->callback([&context, file] { context.run = [&context, file] { info(context, *file); }; });
}

}  // namespace piddm::cli
