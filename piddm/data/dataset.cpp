#include "piddm/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "piddm/core/input_file.h"
#include "piddm/data/data_file.h"
#include "piddm/data/generate.h"
#include "piddm/files/json_file.h"
#include "piddm/files/sha256.h"
#include "piddm/pde/pde_file.h"

namespace piddm {

namespace {

constexpr double kSameConstant = 1e-6;
constexpr int kReadings = 100;
constexpr uint64_t kMaxExpansion = 200, kAlwaysAllowed = uint64_t{1} << 20;  // of files/zip.h

/// Version 1 had neither format nor digest.
const JsonFormat& index_format() {
  static const JsonFormat format{.name = "piddm-shards",
                                 .version = 2,
                                 .max_bytes = size_t{16} << 20,
                                 .remedy = "write it again with `piddm data make ... --resume`, or copy it again"};
  return format;
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
  auto fields = torch::empty({sizes[0], count, sizes[1], sizes[2]}, dtype);
  for (int64_t c = 0; c < count; ++c) {
    const auto channel = arrays.extract(channels[static_cast<size_t>(c)]);
    require<DataError>(!channel.empty(), "{}: channel '{}' is listed twice", origin, channels[static_cast<size_t>(c)]);
    fields.select(1, c).copy_(channel.mapped());
  }
  return fields;
}

void check_size(const json& description, int64_t size, const std::string& origin) {
  const auto said = description.find("n");
  if (said == description.end()) return;
  require<DataError>(said->is_number_integer() && said->get<int64_t>() == size,
                     "{}: the description says n = {}, the data {}", origin, said->dump(), size);
}

/// Of a rectangle earlier versions wrote H alone.
void check_grid(const json& description, const GridSize& grid, const std::string& origin) {
  const auto said = description.find("grid");
  if (said == description.end() || *said == grid.to_json() || *said == json(grid.height())) return;
  throw DataError("{}: the description says grid = {}, the data {}", origin, said->dump(), grid.to_json().dump());
}

Dataset load_file(const std::filesystem::path& path, Faults faults) {
  const auto origin = path.string();
  auto file = read_data_file(path);
  check_description_version(file.description, origin);
  Dataset dataset{.channels = described_channels(file.description, origin)};
  dataset.fields = join_channels(file.arrays, dataset.channels, origin);
  check_size(file.description, dataset.size(), origin);
  check_grid(file.description, dataset.grid(), origin);
  dataset.description = read_description(std::move(file.description));
  if (faults == Faults::refuse) check_finite(dataset.fields, dataset.channels, origin);
  return dataset;
}

struct ShardEntry {
  std::string file, sha256;
  int64_t n = 0;
  template <class V>
  void fields(V&& f) {
    f("file", file, "name, beside the index");
    f("sha256", sha256, "digest of the file");
    f("n", n, count_from(1), "samples");
  }
};

std::vector<ShardEntry> shard_list(const json& index, const std::string& origin) {
  const auto list = index.find("shards");
  require<DataError>(list != index.end() && list->is_array() && !list->empty(), "{}: no list of shards", origin);
  std::vector<ShardEntry> shards(list->size());
  std::set<std::string> names;
  for (size_t i = 0; i < shards.size(); ++i) {
    try {
      read_fields((*list)[i], shards[i], fmt::format("shards[{}]", i));
    } catch (const UsageError& error) {
      throw DataError("{}: {}", origin, error.what());
    }
    const auto& name = shards[i].file;
    require<DataError>(!name.empty() && name == std::filesystem::path(name).filename().string(),
                       "{}: '{}' is not the name of a file beside the index", origin, name);
    require<DataError>(names.insert(name).second, "{}: '{}' is listed twice", origin, name);
  }
  return shards;
}

Dataset load_shard(const std::filesystem::path& path, const ShardEntry& entry, Faults faults) {
  const auto digest = sha256_file(path);
  require<DataError>(digest == entry.sha256,
                     "{}: its SHA-256 is {}, the index says {}: damaged, or of another set; `piddm data make ... "
                     "--resume` makes what is damaged again",
                     path.string(), digest, entry.sha256);
  auto shard = load_file(path, faults);
  require<DataError>(shard.size() == entry.n, "{}: {} samples, the index says {}", path.string(), shard.size(),
                     entry.n);
  return shard;
}

/// A DataError where a file is too small for so many samples, however well it is compressed: before memory is taken for
/// them.
void check_room(const std::filesystem::path& file, int64_t n, int64_t numbers) {
  const auto most = kMaxExpansion * std::max<uint64_t>(InputFile(file).size(), kAlwaysAllowed);
  require<DataError>(static_cast<uint64_t>(n) <= most / static_cast<uint64_t>(numbers),
                     "{}: too small for the {} samples the index says", file.string(), n);
}

Dataset load_shards(const std::filesystem::path& path, const json& index, Faults faults) {
  const auto origin = path.string();
  const auto shards = shard_list(index, origin);
  Dataset whole{.description = read_description(index), .channels = described_channels(index, origin)};
  int64_t total = 0, done = 0;
  for (const auto& entry : shards)
    require<DataError>(!__builtin_add_overflow(total, entry.n, &total), "{}: too many samples", origin);
  for (const auto& entry : shards) {
    const auto file = path.parent_path() / entry.file;
    const auto shard = load_shard(file, entry, faults);
    const auto sizes = shard.fields.sizes();
    if (done == 0) {
      for (const auto& other : shards) check_room(path.parent_path() / other.file, other.n, shard.fields[0].numel());
      whole.fields = torch::empty({total, sizes[1], sizes[2], sizes[3]}, shard.fields.options());
    }
    require<DataError>(shard.channels == whole.channels && sizes.slice(1) == whole.fields.sizes().slice(1) &&
                           shard.fields.scalar_type() == whole.fields.scalar_type(),
                       "{}: its channels, grid or type are not those of the set", file.string());
    whole.fields.narrow(0, done, entry.n).copy_(shard.fields);
    done += entry.n;
  }
  check_size(index, whole.size(), origin);
  return whole;
}

/// The set of the index; where that is replaced while its shards are read, the new one.
Dataset load_index(const std::filesystem::path& path, Faults faults) {
  for (int reading = 1;; ++reading) {
    const auto text = read_file(path, index_format().max_bytes);
    try {
      return load_shards(path, unseal_json(text, index_format(), path.string()), faults);
    } catch (const DataError&) {
      if (reading == kReadings || read_file(path, index_format().max_bytes) == text) throw;
    }
  }
}

PdeDefinition definition_in(const DataDescription& description) {
  return {.table = description.definition.is_object() ? description.definition : json::object()};
}

/// The constants that were declared, with the defaults of the others; those of a PDE of another program are not known.
json with_defaults(const DataDescription& description, const Pde& pde) {
  json declared = description.parameters;
  const PdeOptions usual{.name = pde.name(), .grid = pde.grid(), .definition = definition_in(description)};
  const auto names = pde_registry().names();
  const bool known = std::find(names.begin(), names.end(), pde.name()) != names.end();
  if (!known && usual.definition.absent()) return declared;
  const auto stated = make_pde(usual);
  for (const auto& p : stated->parameters())
    if (!declared.contains(p.name)) declared[p.name] = p.value;
  return declared;
}

bool same_constant(const json& theirs, double ours) {
  if (!theirs.is_number()) return false;
  const double value = theirs.get<double>();
  return std::abs(value - ours) <= kSameConstant * std::max(std::abs(value), std::abs(ours));
}

}  // namespace

Dataset load_dataset(const std::filesystem::path& path, Faults faults) {
  if (path.extension() == ".json") return load_index(path, faults);
  if (faults == Faults::refuse) check_digest(path);
  return load_file(path, faults);
}

void write_shard_index(const std::filesystem::path& path, json description) {
  description.erase("version");  // that of the index stands for both
  write_json_file(path, index_format(), description);
}

void save_dataset(const std::filesystem::path& path, const Dataset& dataset, torch::ScalarType dtype) {
  check_data_file_name(path);
  const auto& x = dataset.fields;
  const auto count = static_cast<int64_t>(dataset.channels.size());
  require<DataError>(x.defined() && x.dim() == 4 && x.numel() > 0 && x.size(1) == count,
                     "{}: expected fields (N,{},H,W), got {}", path.string(), count, shape_string(x));
  DataFile file{
      .arrays = {},
      .description = write_description(dataset.description, dataset.channels, dataset.size(), dataset.grid(), dtype)};
  const auto fields = x.detach().to(torch::kCPU, dtype);
  check_finite(fields, dataset.channels, path.string());
  for (int64_t c = 0; c < count; ++c)
    require<DataError>(file.arrays.emplace(dataset.channels[static_cast<size_t>(c)], fields.select(1, c)).second,
                       "{}: channel '{}' is listed twice", path.string(), dataset.channels[static_cast<size_t>(c)]);
  write_data_file(path, file);
}

Dataset make_dataset(const Pde& pde, uint64_t seed, int64_t first, int64_t n, int64_t shard, torch::ScalarType dtype) {
  const SampleRange range{.seed = seed, .first = first, .n = n, .dtype = dtype, .batch = shard};
  Tensor fields;
  int64_t done = 0;
  const auto statistics = generate_samples(pde, range, [&](const Tensor& samples) {
    if (done == 0) fields = torch::empty({n, pde.num_channels(), pde.grid().height(), pde.grid().width()}, dtype);
    fields.narrow(0, done, samples.size(0)).copy_(samples);
    done += samples.size(0);
  });
  return {describe_samples(pde, range, statistics), pde.channel_names(), fields};
}

json describe(const Dataset& dataset) {
  const auto& x = dataset.fields;
  return write_description(dataset.description, dataset.channels, x.size(0), dataset.grid(), x.scalar_type());
}

PdeOptions pde_options_of(const DataDescription& description, const GridSize& grid, const std::string& name) {
  const auto& declared = description.pde;
  require<UsageError>(!name.empty() || !declared.empty(), "the data do not say which PDE they are of; add --pde");
  PdeOptions own{.name = declared, .definition = definition_in(description)};
  auto options = name.empty() || name == declared ? own : pde_named(name);
  options.grid = grid;
  if (!description.parameters.is_null() && pde_difference(options, own).empty())
    options.parameters = description.parameters;
  return options;
}

PdePtr pde_of(const Dataset& dataset, const std::string& name) {
  return make_pde(pde_options_of(dataset.description, dataset.grid(), name));
}

DataDescription declared_pde(const Pde& pde) {
  const auto& options = pde.options();
  return {.pde = options.name,
          .definition = options.definition.absent() ? json() : options.definition.table,
          .parameters = options.parameters};
}

void check_fields(const Dataset& dataset, const Pde& pde) {
  require<DataError>(dataset.channels == pde.channel_names(), "[{}] expected the channels {}, got {}", pde.name(),
                     json(pde.channel_names()).dump(), json(dataset.channels).dump());
  const auto& x = dataset.fields;
  const auto grid = x.dim() == 4 ? dataset.grid() : pde.grid();
  const bool possible = grid.smaller() >= kSmallestGrid && std::max(grid.height(), grid.width()) <= kLargestGrid;
  const auto remedy =
      possible ? fmt::format("add --set pde.grid={}", grid.square() ? std::to_string(grid.height()) : grid.text())
               : fmt::format("equations here have {} to {} points per side", kSmallestGrid, kLargestGrid);
  require<DataError>(grid == pde.grid(), "[{}] expected (B,{},{},{}), got {}: the data have a grid of {}; {}",
                     pde.name(), pde.num_channels(), pde.grid().height(), pde.grid().width(), shape_string(x),
                     grid.text(), remedy);
  pde.check_shape(x);
}

void check_declared(const DataDescription& description, const Pde& pde, const std::string& subject) {
  const auto& declared = description.pde;
  if (declared.empty()) return;
  require<DataError>(declared == pde.name(), "[{}] {} of {}", pde.name(), subject, declared);
  const auto difference = definition_difference(declared, pde.options().definition, definition_in(description));
  require<DataError>(difference.empty(), "[{}] {} of another PDE of this name: {}", pde.name(), subject, difference);
  if (!description.parameters.is_object()) return;
  const auto theirs = with_defaults(description, pde);
  for (const auto& p : pde.parameters()) {
    if (!p.choices.empty() || !theirs.contains(p.name)) continue;  // forms of the residual are no matter of the data
    require<DataError>(same_constant(theirs.at(p.name), p.value.get<double>()), "[{}] {} of {} = {}, not {}",
                       pde.name(), subject, p.name, theirs.at(p.name).dump(), p.value.dump());
  }
}

void check_matches(const Dataset& dataset, const Pde& pde) {
  check_declared(dataset.description, pde, "these data are");
  check_fields(dataset, pde);
}

}  // namespace piddm
