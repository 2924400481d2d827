#include "piddm/data/shards.h"

#include <memory>

#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "piddm/data/spool.h"
#include "piddm/files/file_lock.h"
#include "piddm/files/free_space.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLongestName = 200;

SampleRange range_of_shard(const SampleRange& whole, int64_t shard, int64_t shards) {
  auto part = whole;
  const int64_t least = whole.n / shards, larger = whole.n % shards;
  part.n = least + (shard < larger ? 1 : 0);
  part.first = whole.first + shard * least + std::min(shard, larger);
  return part;
}

json description_of(const Pde& pde, const SampleRange& range, const ResidualStatistics& statistics) {
  return write_description(describe_samples(pde, range, statistics), pde.channel_names(), range.n, pde.grid(),
                           range.dtype);
}

/// A finished file of an earlier run: its digest is the one kept beside it and its description the one wanted here.
bool is_finished(const fs::path& path, const Pde& pde, const SampleRange& range, ResidualStatistics& statistics) {
  if (!fs::exists(path) || read_digest(path) != sha256_file(path)) return false;
  const auto data = load_dataset(path);
  if (data.channels != pde.channel_names()) return false;
  statistics = residual_statistics(pde, data.fields);
  auto wanted = describe_samples(pde, range, statistics);
  wanted.floor = data.description.floor;  // both of an earlier version, perhaps
  wanted.law = data.description.law;
  return describe(data) == write_description(wanted, pde.channel_names(), range.n, pde.grid(), range.dtype);
}

ResidualStatistics write_shard(const fs::path& path, const Pde& pde, const SampleRange& range) {
  std::vector<std::unique_ptr<Spool>> spools;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    spools.push_back(std::make_unique<Spool>(path.parent_path(), range.dtype));
  auto statistics = generate_samples(pde, range, [&](const Tensor& samples) {
    for (size_t c = 0; c < spools.size(); ++c) spools[c]->append(samples.select(1, static_cast<int64_t>(c)));
  });
  DataFile file{.arrays = {}, .description = description_of(pde, range, statistics)};
  for (size_t c = 0; c < spools.size(); ++c) file.arrays.emplace(pde.channels()[c].name, spools[c]->map());
  write_data_file(path, file);
  write_digest(path);
  return statistics;
}

/// Held while the set is made, so that two processes do not mix their shards; sets of one stem share their index.
FileLock lock_of(const fs::path& path) {
  const auto name = path.stem().string().substr(0, kLongestName);
  auto lock = FileLock::try_acquire(path.parent_path() / fmt::format(".{}.lock", name), FileLock::Afterwards::remove);
  require<ResourceError>(lock.has_value(), "another process is making {}: wait for it or choose another --out",
                         path.string());
  return std::move(*lock);
}

json list_shards(const std::vector<fs::path>& paths, const SampleRange& range) {
  json list = json::array();
  for (size_t k = 0; k < paths.size(); ++k)
    list.push_back({{"file", paths[k].filename().string()},
                    {"sha256", read_digest(paths[k])},
                    {"n", range_of_shard(range, static_cast<int64_t>(k), static_cast<int64_t>(paths.size())).n}});
  return list;
}

}  // namespace

std::vector<fs::path> shard_paths(const fs::path& path, int64_t shards) {
  if (shards == 1) return {path};
  std::vector<fs::path> paths;
  for (int64_t k = 1; k <= shards; ++k)
    paths.push_back(path.parent_path() /
                    fmt::format("{}-{:05}-of-{:05}{}", path.stem().string(), k, shards, path.extension().string()));
  return paths;
}

MadeFiles make_data_files(const fs::path& path, const Pde& pde, const MakeOptions& options) {
  const auto& range = options.range;
  check_data_file_name(path);
  require<UsageError>(options.shards >= 1 && options.shards <= std::max<int64_t>(range.n, 1) && options.shards <= 99999,
                      "{} samples cannot be split into {} shards", range.n, options.shards);
  const auto lock = lock_of(path);
  const auto paths = shard_paths(path, options.shards);
  const auto bytes_each = static_cast<double>(pde.num_channels() * pde.grid().points()) *
                          static_cast<double>(c10::elementSize(range.dtype));
  const auto largest =
      static_cast<double>(range_of_shard(range, 0, options.shards).n);  // is spooled before it is written
  if (!options.resume) require_free_space(path, (static_cast<double>(range.n) + largest) * bytes_each);
  MadeFiles made{.path = path, .description = {}};
  std::vector<ResidualStatistics> parts;
  for (int64_t k = 0; k < options.shards; ++k) {
    const auto& file = paths[static_cast<size_t>(k)];
    const auto part = range_of_shard(range, k, options.shards);
    ResidualStatistics statistics;
    const bool keep = options.resume && is_finished(file, pde, part, statistics);
    parts.push_back(keep ? statistics : write_shard(file, pde, part));
    made.kept += keep;
  }
  made.description = description_of(pde, range, join_statistics(parts));
  if (options.shards > 1) {
    made.description.update({{"shards", list_shards(paths, range)}});
    made.path.replace_extension(".json");
    write_shard_index(made.path, made.description);
  }
  return made;
}

}  // namespace piddm
