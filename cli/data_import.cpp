#include "cli/data_commands.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/core/table.h"
#include "piddm/data/check/resampling_cost.h"
#include "piddm/data/formats/export.h"
#include "piddm/data/formats/import.h"
#include "piddm/data/formats/import_presets.h"

namespace piddm::cli {

namespace {

torch::ScalarType parse_dtype(const std::string& name) {
  require<UsageError>(name == "float32" || name == "float64", "--dtype {}: float32 or float64", name);
  return name == "float64" ? torch::kFloat64 : torch::kFloat32;
}

struct Import {
  ImportOptions options;
  std::vector<std::string> files, parameters;
  std::string out, dtype = "float32";
  bool list = false;
};

void list_arrays(const Context& context, const std::vector<std::string>& files) {
  Table table({"file", "array", "shape", "type"}, {Align::left, Align::left, Align::left, Align::left});
  json report = json::array();
  for (const auto& file : files) {
    const auto opened = open_array_file(file);
    report.push_back(describe_array_file(*opened));
    for (const auto& [name, info] : opened->arrays())
      table.add_row({file, name, json(info.shape).dump(), dtype_label(info.dtype)});
  }
  context.print({{"files", report}}, table.text());
}

/// Files, and those in folders.
std::vector<std::string> files_in(const std::vector<std::string>& given) {
  auto files = given;
  for (const auto& path : given)
    if (std::filesystem::is_directory(path))
      for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path().string());
  return files;
}

void import_files(const Context& context, const Import& request) {
  if (request.list) return list_arrays(context, request.files);
  require<UsageError>(!request.out.empty(), "--out is required");
  check_output(request.out, {".npz", ".safetensors"}, files_in(request.files));
  auto options = request.options;
  options.files.assign(request.files.begin(), request.files.end());
  options.dtype = parse_dtype(request.dtype);
  for (const auto& parameter : request.parameters) apply_setting(options.parameters, parameter);
  FieldsAsGiven given;
  auto data = import_dataset(options, &given);
  auto text = fmt::format("{}: {} samples, channels {}, {}x{}", request.out, data.size(),
                          fmt::join(data.channels, ", "), data.fields.size(2), data.fields.size(3));
  auto& said = data.description;
  text += said.pde.empty() ? ", of no PDE of ours" : ", of " + said.pde;
  for (const auto& note : said.source.at("notes")) text += "\nnote: " + note.get<std::string>();
  json report = {{"out", request.out}, {"n", data.size()}};
  if (given.fields.defined()) {
    const auto cost =
        resampling_cost(*pde_of(data), given.fields, given.points, data.fields.narrow(0, 0, given.fields.size(0)));
    said.source["resampling"] = report["resampling"] = cost.to_json();
    text += "\n\n" + cost.text();
  }
  save_dataset(request.out, data, options.dtype);
  report["description"] = describe(data);
  context.print(report, text);
}

struct Export {
  std::string file, format, out, dtype = "float32";
};

ExportFormat parse_format(const Export& request) {
  const auto names = enum_names(ExportFormat{});
  auto name = request.format;
  const auto extension = std::filesystem::path(request.out).extension();
  if (name.empty()) name = extension == ".npz" ? "npz" : extension == ".safetensors" ? "safetensors" : "hdf5";
  const auto found = std::find(names.begin(), names.end(), name);
  require<UsageError>(found != names.end(), "--format: {}", unknown_name_message("format", name, names));
  return static_cast<ExportFormat>(found - names.begin());
}

void export_file(const Context& context, const Export& request) {
  const auto format = parse_format(request);
  const auto dtype = parse_dtype(request.dtype);
  check_output(request.out,
               format == ExportFormat::npz           ? std::vector<std::string>{".npz"}
               : format == ExportFormat::safetensors ? std::vector<std::string>{".safetensors"}
                                                     : std::vector<std::string>{".h5", ".hdf5"},
               {request.file});
  const auto data = load_dataset(request.file);
  export_dataset(request.out, data, format, dtype);
  const auto name = enum_names(format).at(static_cast<size_t>(format));
  context.print({{"out", request.out}, {"format", name}, {"n", data.size()}},
                fmt::format("{}: {} samples as {}", request.out, data.size(), name));
}

}  // namespace

void add_import(CLI::App& data, Context& context) {
  auto* command =
      add_command(data, context, "import",
                  "Read other people's files: MAT, HDF5, NPY, NPZ, CSV, safetensors; see docs/data-files.md");
  auto o = std::make_shared<Import>();
  auto& options = o->options;
  command->add_option("file", o->files, "files, or folders of them")->required();
  command->add_option("--preset", options.preset,
                      fmt::format("whose files they are: {}", fmt::join(import_presets().names(), ", ")));
  command->add_option("--map", options.map, "channels from arrays: u=sol,a=coeff[t=0],phi=0.785");
  command->add_option("--axes", options.axes, "axes of the mapped arrays (n samples, x, y, t): ntx, or u=ntx,a=nx");
  auto& corrections = options.corrections;
  command->add_flag("--transpose{all}", corrections.transpose, "swap the two axes of all fields, or --transpose=u,a");
  command->add_option("--reverse", corrections.reverse, "read fields the other way along axes: x, or x,t, or u=x,a=x")
      ->join(',');
  command->add_option("--scale", corrections.scale, "multiply channels by numbers: u=115,a=-1")->join(',');
  command->add_option("--shift", corrections.shift, "then add numbers: u=0.5")->join(',');
  command
      ->add_option("--from", corrections.from,
                   "the points the data have, where the PDE has others: nodes, cells, periodic or x=nodes,y=cells")
      ->join(',');
  add_grid_option(
      *command, corrections.resample,
      "interpolate to so many points of the PDE's kind: 64, or 64x32; default with --from: the same spacing",
      "--resample");
  command->add_option("--pde", options.pde,
                      "the PDE these are samples of, or FILE.toml with it; default: what the preset says");
  command->add_option("--param", o->parameters, "constant of the equation, e.g. k=2; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--first", options.first, "number of the first sample")
      ->check(whole_number(0, kLargestFirst))
      ->capture_default_str();
  command->add_option("--n", options.n, "samples; -1: all")
      ->check(whole_number(-1, kMostSamples))
      ->capture_default_str();
  command->add_option("--stride", options.stride, "take every so many points: 5, or 16x4 for x and the other axis");
  command->add_option("--grid", options.grid, "thin out to so many points: 64, or 64x51");
  command->add_option("--dtype", o->dtype, "float32 or float64")->capture_default_str();
  command->add_option("--out", o->out, "file to write: .npz or .safetensors");
  command->add_flag("--list", o->list, "only show the arrays in the files");
  command->callback([&context, o] { context.run = [&context, o] { import_files(context, *o); }; });
}

void add_export(CLI::App& data, Context& context) {
  auto* command = add_command(data, context, "export", "Write a data file in another format");
  auto o = std::make_shared<Export>();
  command->add_option("file", o->file, "data file, or the .json index of shards")->required();
  command->add_option(
      "--format", o->format,
      fmt::format("{}; default: by the name of the output", fmt::join(enum_names(ExportFormat{}), ", ")));
  command->add_option("--dtype", o->dtype, "float32 or float64")->capture_default_str();
  command->add_option("--out", o->out, "file to write: .npz, .safetensors, .h5 or .hdf5")->required();
  command->callback([&context, o] { context.run = [&context, o] { export_file(context, *o); }; });
}

}  // namespace piddm::cli
