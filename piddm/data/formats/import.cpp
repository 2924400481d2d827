#include "piddm/data/formats/import.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/data/data_file.h"
#include "piddm/data/formats/import_presets.h"
#include "piddm/data/generate.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kBlockBytes = int64_t{256} << 20;

/// Files of a folder that look like data, by name.
std::vector<fs::path> expand(const std::vector<fs::path>& given) {
  static const std::vector<std::string> kinds = {".mat", ".h5", ".hdf5", ".npy", ".npz", ".csv", ".safetensors", ".nc"};
  std::vector<fs::path> files;
  for (const auto& path : given) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path))
      if (std::find(kinds.begin(), kinds.end(), entry.path().extension()) != kinds.end()) files.push_back(entry.path());
    require<DataError>(files.size() > before, "{}: no data files in this folder", path.string());
    std::sort(files.begin() + static_cast<int64_t>(before), files.end());
  }
  require<UsageError>(!files.empty(), "no file to import");
  return files;
}

std::vector<ArraySet> open_all(const std::vector<fs::path>& files) {
  std::vector<ArraySet> sets(1);
  for (const auto& path : files) {
    const auto file = open_array_file(path);
    if (sets.back().overlaps(*file)) sets.emplace_back();
    sets.back().add(file);
  }
  return sets;
}

/// "5" or "16x4" as two numbers of at least 1.
std::pair<int64_t, int64_t> parse_pair(const std::string& text, const char* option) {
  const auto cross = text.find('x');
  const auto parse = [&](const std::string& part) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    require<UsageError>(error == std::errc() && end == part.data() + part.size() && value >= 1,
                        "{} {}: expected a number or HxW", option, text);
    return value;
  };
  if (cross == std::string::npos) return {parse(text), parse(text)};
  return {parse(text.substr(0, cross)), parse(text.substr(cross + 1))};
}

/// The stride that leaves `wanted` of `size` points: both ends kept, or a whole number of equal steps.
int64_t stride_for(int64_t size, int64_t wanted, char axis) {
  if (size <= 1 || size == wanted) return 1;
  if (wanted > 1 && (size - 1) % (wanted - 1) == 0) return (size - 1) / (wanted - 1);
  require<UsageError>(size % wanted == 0, "--grid: {} points on axis {} cannot be thinned out to {}", size, axis,
                      wanted);
  return size / wanted;
}

struct Strides {
  int64_t h = 1, w = 1;
};

Strides strides_of(const ImportOptions& o, const Extent& extent) {
  require<UsageError>(o.stride.empty() || o.grid.empty(), "--stride and --grid exclude each other");
  if (!o.stride.empty()) {
    const auto [h, w] = parse_pair(o.stride, "--stride");
    return {h, w};
  }
  if (o.grid.empty()) return {};
  const auto [h, w] = parse_pair(o.grid, "--grid");
  return {stride_for(extent.h, h, 'x'), stride_for(extent.w, w, extent.w_axis)};
}

ImportPlan plan_for(const ImportOptions& o, const ArraySet& arrays) {
  if (o.map.empty()) {
    require<UsageError>(o.axes.empty(), "--axes {}: needs --map", o.axes);
    return import_presets().at(o.preset.empty() ? "piddm" : o.preset)(arrays);
  }
  require<UsageError>(o.preset.empty(), "--preset and --map exclude each other");
  return {.rules = parse_rules(o.map, o.axes)};
}

/// One set of files, planned and measured.
struct Source {
  ArraySet arrays;
  ImportPlan plan;
  Extent extent;
  Strides strides;
};

std::vector<Source> plan_sources(const ImportOptions& o, std::vector<ArraySet> sets) {
  std::vector<Source> sources;
  for (auto& set : sets) {
    Source source{set, plan_for(o, set), {}, {}};
    source.extent = measure(source.arrays, source.plan.rules);
    source.strides = strides_of(o, source.extent);
    sources.push_back(std::move(source));
    const auto &a = sources.front().extent, &b = sources.back().extent;
    require<DataError>(a.h == b.h && a.w == b.w && a.w_axis == b.w_axis,
                       "{}: fields of {}x{}, the first file's are {}x{}", set.origin(), b.h, b.w, a.h, a.w);
  }
  return sources;
}

/// Samples [first, first+count) of the source into fields [count,C,H,W].
void fill(const Source& source, int64_t first, const Tensor& fields) {
  for (size_t c = 0; c < source.plan.rules.size(); ++c) {
    const auto& s = source.strides;
    const auto x = evaluate(source.plan.rules[c], source.arrays, source.extent, first, fields.size(0), s.h, s.w);
    fields.select(1, static_cast<int64_t>(c)).copy_(x);
  }
}

Tensor read_fields(const ImportOptions& o, const std::vector<Source>& sources, int64_t total) {
  const auto& front = sources.front();
  const auto points = [](int64_t size, int64_t stride) { return size == 0 ? 1 : (size + stride - 1) / stride; };
  const int64_t h = points(front.extent.h, front.strides.h), w = points(front.extent.w, front.strides.w);
  const auto channels = static_cast<int64_t>(front.plan.rules.size());
  const int64_t n = o.n < 0 ? total - o.first : o.n;
  const int64_t block = std::max<int64_t>(1, kBlockBytes / (8 * std::max(front.extent.h * front.extent.w, h * w)));
  auto fields = torch::empty({n, channels, h, w}, o.dtype);
  Progress progress("importing", n);
  int64_t begin = 0, done = 0;
  for (const auto& source : sources) {
    const int64_t samples = source.extent.samples();
    int64_t first = std::max<int64_t>(o.first - begin, 0);
    while (done < n && first < samples) {
      throw_if_interrupted("importing data");
      const int64_t most = source.arrays.reads_parts() ? block : samples;
      const int64_t count = std::min({most, samples - first, n - done});
      fill(source, first, fields.narrow(0, done, count));
      first += count;
      done += count;
      progress.advance(count);
    }
    begin += samples;
  }
  return fields;
}

json source_of(const ImportOptions& o, const std::vector<fs::path>& files, const Source& source,
               const std::vector<std::string>& notes) {
  json list = json::array(), map = json::object();
  for (const auto& file : files) list.push_back({{"name", file.filename().string()}, {"sha256", sha256_file(file)}});
  for (const auto& rule : source.plan.rules) map[rule.channel] = rule.text();
  json text = {{"files", list},
               {"preset", o.map.empty() ? (o.preset.empty() ? "piddm" : o.preset) : "map"},
               {"map", map},
               {"first", o.first}};
  if (source.strides.h != 1 || source.strides.w != 1) text.update({{"stride", {source.strides.h, source.strides.w}}});
  if (!o.corrections.empty()) text.update({{"corrections", o.corrections.to_json()}});
  text.update({{"notes", notes}});
  return text;
}

/// Brings the channels into the PDE's order; a DataError where the data are none of its samples.
void order_channels(Dataset& dataset, const Pde& pde) {
  std::vector<int64_t> order;
  for (const auto& wanted : pde.channel_names()) {
    const auto at = std::find(dataset.channels.begin(), dataset.channels.end(), wanted);
    require<DataError>(at != dataset.channels.end(), "[{}] needs the channels {}, the data have {}", pde.name(),
                       json(pde.channel_names()).dump(), json(dataset.channels).dump());
    order.push_back(at - dataset.channels.begin());
  }
  require<DataError>(order.size() == dataset.channels.size(), "[{}] needs the channels {}, the data have {}",
                     pde.name(), json(pde.channel_names()).dump(), json(dataset.channels).dump());
  if (!std::is_sorted(order.begin(), order.end()))
    dataset.fields = dataset.fields.index_select(1, torch::tensor(order, torch::kInt64));
  dataset.channels = pde.channel_names();
}

Tensor resampled(const Pde& pde, const Tensor& fields, const GridPoints& from) {
  auto out = torch::empty({fields.size(0), fields.size(1), pde.grid().height(), pde.grid().width()}, fields.options());
  for (int64_t first = 0; first < fields.size(0); first += kSamplesAsGiven) {
    throw_if_interrupted("resampling data");
    const auto part = fields.slice(0, first, first + kSamplesAsGiven);
    out.slice(0, first, first + kSamplesAsGiven).copy_(spline_resample(pde, part, from));
  }
  return out;
}

void fit_to_pde(Dataset& dataset, PdeOptions options, const Corrections& corrections, FieldsAsGiven* given) {
  GridPoints from;
  if (corrections.resamples()) {
    auto any = options;
    any.grid = kSmallestGrid;
    const auto axes = make_pde(any)->axes();
    from = given_points(axes, dataset.grid(), corrections.from);
    options.grid = resampled_grid(axes, from, corrections.resample);
  }
  const auto pde = make_pde(options);
  order_channels(dataset, *pde);
  if (corrections.resamples()) {
    if (given) *given = {dataset.fields.slice(0, 0, kSamplesAsGiven), from};
    dataset.fields = resampled(*pde, dataset.fields, from);
  }
  dataset.description.pde = options.name;
  dataset.description.definition = declared_pde(*pde).definition;
  if (!options.parameters.empty()) dataset.description.parameters = options.parameters;
}

/// Names the PDE these are samples of; returns why the preset's does not fit, if so.
std::optional<std::string> name_pde(Dataset& dataset, const ImportOptions& o, const std::string& preset_pde,
                                    FieldsAsGiven* given) {
  auto declared = dataset.description;
  declared.pde = preset_pde;
  dataset.description.pde.clear();
  dataset.description.definition = {};
  const bool unknown = o.pde.empty() && preset_pde.empty();
  require<UsageError>(!unknown || (!o.corrections.resamples() && o.parameters.empty()),
                      "the data do not say which PDE they are of, which {} needs; add --pde",
                      o.parameters.empty() ? "resampling" : "--param");
  if (unknown) return {};
  try {
    auto options = pde_options_of(declared, dataset.grid(), o.pde);
    if (options.parameters.is_object()) options.parameters.update(o.parameters);
    fit_to_pde(dataset, options, o.corrections, given);
  } catch (const Error& error) {
    if (!o.pde.empty() || o.corrections.resamples()) throw;
    return fmt::format("no PDE: {}", error.what());
  }
  return {};
}

/// What a data set of ours says of its samples that corrected ones may no more be.
void forget_law(DataDescription& description) {
  description.seed.reset();
  description.first.reset();
  description.law.clear();
  description.floor = {};
}

}  // namespace

Dataset import_dataset(const ImportOptions& o, FieldsAsGiven* given) {
  const auto files = expand(o.files);
  for (const auto& file : files) check_digest(file);
  const auto sources = plan_sources(o, open_all(files));
  const auto& front = sources.front();
  int64_t total = 0;
  for (const auto& source : sources) total += source.extent.samples();
  require<UsageError>(o.first >= 0 && o.n != 0 && o.first < total && o.n <= total - o.first,
                      "{}: has {} samples, not {} from {} on", front.arrays.origin(), total, std::max<int64_t>(o.n, 1),
                      o.first);
  Dataset dataset;
  for (const auto& rule : front.plan.rules) dataset.channels.push_back(rule.channel);
  dataset.description = front.plan.description;
  dataset.fields = read_fields(o, sources, total);
  if (!o.corrections.empty()) {
    dataset.fields = corrected(dataset.fields, dataset.channels, o.corrections);
    forget_law(dataset.description);
  }
  check_finite(dataset.fields, dataset.channels, front.arrays.origin());
  if (front.extent.w_axis == 't') dataset.description.axes = o.corrections.transpose == "all" ? "tx" : "xt";
  auto notes = front.plan.notes;
  if (const auto misfit = name_pde(dataset, o, front.plan.pde, given)) notes.push_back(*misfit);
  dataset.description.source = source_of(o, files, front, notes);
  return dataset;
}

json describe_array_file(const ArrayFile& file) {
  std::map<std::string, json> arrays;
  for (const auto& [name, info] : file.arrays())
    arrays[name] = {{"shape", info.shape}, {"dtype", dtype_label(info.dtype)}};
  return {{"file", file.path().string()}, {"arrays", json(arrays)}, {"attributes", json(file.attributes())}};
}

}  // namespace piddm
