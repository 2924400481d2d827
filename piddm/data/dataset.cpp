#include "piddm/data/dataset.h"

#include <algorithm>

#include "piddm/core/interrupt.h"
#include "piddm/core/json_text.h"
#include "piddm/core/npy.h"
#include "piddm/core/progress.h"
#include "piddm/core/safetensors.h"
#include "piddm/data/statistics.h"

namespace piddm {

namespace {

constexpr int kVersion = 1;
constexpr const char* kDescriptionMember = "description.json";
constexpr const char* kDescriptionKey = "description";

enum class Format { npz, safetensors };

Format format_of(const std::filesystem::path& path) {
  if (path.extension() == ".npz") return Format::npz;
  if (path.extension() == ".safetensors") return Format::safetensors;
  throw UsageError("{}: data files end in .npz or .safetensors", path.string());
}

/// "float32" or "float64"; nothing else is a data type of ours.
std::string dtype_name(torch::ScalarType dtype) {
  require<UsageError>(dtype == torch::kFloat32 || dtype == torch::kFloat64, "data are float32 or float64, not {}",
                      c10::toString(dtype));
  return dtype == torch::kFloat32 ? "float32" : "float64";
}

/// DataError at the first value that is not finite.
void check_finite(const Tensor& fields, const std::vector<std::string>& channels, const std::string& origin) {
  for (int64_t i = 0; i < fields.size(0); ++i) {
    const auto sample = fields[i];
    if (all_finite(sample)) continue;
    const auto at = sample.isfinite().logical_not().nonzero()[0];
    const auto index = [&](int64_t axis) { return at[axis].item<int64_t>(); };
    throw DataError("{}: channel '{}', sample {}, position ({},{}) is {}", origin,
                    channels[static_cast<size_t>(index(0))], i, index(1), index(2),
                    sample[index(0)][index(1)][index(2)].item<double>());
  }
}

struct Contents {
  TensorMap arrays;
  std::string description;
};

template <class Texts>
std::string find_description(const Texts& texts, const char* key, const std::string& origin) {
  const auto text = texts.find(key);
  require<DataError>(text != texts.end(), "{}: no {}, so not a data set; use `piddm data import`", origin, key);
  return text->second;
}

Contents read_contents(const std::filesystem::path& path) {
  const auto origin = path.string();
  if (format_of(path) == Format::npz) {
    auto npz = read_npz(path);
    return {std::move(npz.arrays), find_description(npz.texts, kDescriptionMember, origin)};
  }
  auto file = read_safetensors(path);
  return {std::move(file.tensors), find_description(file.metadata, kDescriptionKey, origin)};
}

std::vector<std::string> channel_list(const json& description, const std::string& origin) {
  const auto list = description.find("channels");
  bool good = list != description.end() && list->is_array() && !list->empty();
  if (good) good = std::all_of(list->begin(), list->end(), [](const json& name) { return name.is_string(); });
  require<DataError>(good, "{}: the description has no list of channels", origin);
  return list->get<std::vector<std::string>>();
}

/// The channels as one [N,C,H,W] tensor; each array is given up as soon as it is copied.
Tensor join_channels(TensorMap& arrays, const std::vector<std::string>& channels, const std::string& origin) {
  auto dtype = torch::kFloat32;
  for (const auto& name : channels) {
    const auto found = arrays.find(name);
    require<DataError>(found != arrays.end(), "{}: channel '{}' is missing", origin, name);
    const auto& x = found->second;
    require<DataError>(x.dim() == 3 && x.numel() > 0, "{}: channel '{}' must be (N,H,W), got {}", origin, name,
                       shape_string(x));
    const auto& first = arrays.at(channels[0]);
    require<DataError>(x.sizes() == first.sizes(), "{}: channel '{}' is {}, but '{}' is {}", origin, name,
                       shape_string(x), channels[0], shape_string(first));
    if (x.scalar_type() == torch::kFloat64) dtype = torch::kFloat64;
  }
  const auto sizes = arrays.at(channels[0]).sizes().vec();
  const auto count = static_cast<int64_t>(channels.size());
  const auto fields = torch::empty({sizes[0], count, sizes[1], sizes[2]}, dtype);
  for (int64_t c = 0; c < count; ++c) {
    const auto channel = arrays.extract(channels[static_cast<size_t>(c)]);
    require<DataError>(!channel.empty(), "{}: channel '{}' is listed twice", origin, channels[static_cast<size_t>(c)]);
    fields.select(1, c).copy_(channel.mapped());
  }
  return fields;
}

void check_size(const json& description, const char* key, int64_t size, const std::string& origin) {
  const auto said = description.find(key);
  if (said == description.end()) return;
  require<DataError>(said->is_number_integer() && said->get<int64_t>() == size,
                     "{}: the description says {} = {}, the data {}", origin, key, said->dump(), size);
}

std::string law_of(const Pde& pde) {
  for (const auto& entry : pde_registry().entries())
    if (entry.name == pde.name()) return entry.summary;
  return pde.name();
}

json floor_of(const Pde& pde, const Tensor& fields) {
  const auto statistics = residual_statistics(pde, fields);
  return {{"pde_error", statistics.mean_pde_error()},
          {"rel_residual", statistics.rel_residual()},
          {"worst_rel_residual", statistics.worst_rel_residual()}};
}

}  // namespace

Dataset load_dataset(const std::filesystem::path& path) {
  const auto origin = path.string();
  auto contents = read_contents(path);
  Dataset dataset;
  dataset.description = parse_json(contents.description, origin + ": description");
  require<DataError>(dataset.description.is_object(), "{}: the description is not an object", origin);
  dataset.channels = channel_list(dataset.description, origin);
  dataset.fields = join_channels(contents.arrays, dataset.channels, origin);
  check_size(dataset.description, "n", dataset.size(), origin);
  check_size(dataset.description, "grid", dataset.fields.size(2), origin);
  check_finite(dataset.fields, dataset.channels, origin);
  return dataset;
}

void save_dataset(const std::filesystem::path& path, const Dataset& dataset, torch::ScalarType dtype) {
  const auto format = format_of(path);
  const auto& x = dataset.fields;
  const auto count = static_cast<int64_t>(dataset.channels.size());
  require<DataError>(x.defined() && x.dim() == 4 && x.numel() > 0 && x.size(1) == count,
                     "{}: expected fields (N,{},H,W), got {}", path.string(), count, shape_string(x));
  auto description = dataset.description;
  description["version"] = kVersion;
  description["channels"] = dataset.channels;
  description["n"] = dataset.size();
  description["grid"] = x.size(2);
  description["dtype"] = dtype_name(dtype);
  const auto fields = x.detach().to(torch::kCPU, dtype);
  check_finite(fields, dataset.channels, path.string());
  TensorMap arrays;
  for (int64_t c = 0; c < count; ++c)
    require<DataError>(arrays.emplace(dataset.channels[static_cast<size_t>(c)], fields.select(1, c)).second,
                       "{}: channel '{}' is listed twice", path.string(), dataset.channels[static_cast<size_t>(c)]);
  if (format == Format::npz) {
    write_npz(path, {arrays, {{kDescriptionMember, description.dump(1) + "\n"}}});
  } else {
    write_safetensors(path, arrays, {{kDescriptionKey, description.dump()}});
  }
}

Dataset make_dataset(const Pde& pde, uint64_t seed, int64_t first, int64_t n, int64_t shard, torch::ScalarType dtype) {
  require<UsageError>(n > 0 && shard > 0 && first >= 0, "cannot make {} samples from {} on in shards of {}", n, first,
                      shard);
  const auto type = dtype_name(dtype);
  const torch::NoGradGuard no_grad;
  const auto fields = torch::empty({n, pde.num_channels(), pde.grid(), pde.grid()}, dtype);
  Progress progress("generating " + pde.name(), n);
  for (int64_t begin = 0; begin < n; begin += shard) {
    throw_if_interrupted("generating data");
    const int64_t count = std::min(shard, n - begin);
    fields.narrow(0, begin, count).copy_(pde.sample(seed, first + begin, count));
    progress.advance(count);
  }
  check_finite(fields, pde.channel_names(), pde.name());
  const json description = {{"version", kVersion}, {"pde", pde.name()},
                            {"grid", pde.grid()},  {"channels", pde.channel_names()},
                            {"seed", seed},        {"law", law_of(pde)},
                            {"first", first},      {"n", n},
                            {"dtype", type},       {"floor", floor_of(pde, fields)}};
  return {description, pde.channel_names(), fields};
}

void check_matches(const Dataset& dataset, const Pde& pde) {
  require<DataError>(dataset.channels == pde.channel_names(), "[{}] expected the channels {}, got {}", pde.name(),
                     json(pde.channel_names()).dump(), json(dataset.channels).dump());
  pde.check_shape(dataset.fields);
}

}  // namespace piddm
