#include "piddm/eval/ensembles/spread_factors.h"

#include <cmath>

#include "piddm/core/error.h"
#include "piddm/eval/ensembles/conformal.h"
#include "piddm/files/json_file.h"
#include "piddm/files/sha256.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

const JsonFormat& spread_format() {
  static const JsonFormat format{.name = "piddm-spread",
                                 .version = 2,
                                 .max_bytes = 1 << 20,
                                 .remedy = "remove it, and run `piddm calibrate MODEL --store` again"};
  return format;
}

fs::path folder_of(const fs::path& path) { return fs::exists(path / "config.json") ? path : path / "model"; }
fs::path file_of(const fs::path& path) { return folder_of(path) / "spread.json"; }
std::string digest_of(const fs::path& path) { return sha256_file(folder_of(path) / "model.safetensors"); }

json to_json(const SpreadFactors& factors) {
  json channels = json::object();
  for (const auto& [name, factor] : factors.channels) channels[name] = factor;
  return {{"method", factors.method}, {"task", factors.task}, {"channels", channels}, {"found", factors.found}};
}

SpreadFactors from_json(const json& entry) {
  SpreadFactors out{.method = entry.at("method").get<std::string>(),
                    .task = entry.at("task").get<std::string>(),
                    .found = entry.at("found")};
  for (const auto& [name, factor] : entry.at("channels").items()) {
    const double value = factor.get<double>();
    require<DataError>(std::isfinite(value) && value >= 0, "the factor of {} must not be negative, got {}", name,
                       value);
    out.channels.emplace_back(name, value);
  }
  return out;
}

/// The entries of the file; none where there is no file.
std::vector<SpreadFactors> entries_of(const fs::path& path) {
  const auto file = file_of(path);
  if (!fs::exists(file)) return {};
  const auto content = read_json_file(file, spread_format());
  return understood(file.string(), "the spread of a model", [&] {
    require<DataError>(content.at("weights_sha256") == digest_of(path), "{}: belongs to other weights than these: {}",
                       file.string(), spread_format().remedy);
    std::vector<SpreadFactors> out;
    for (const auto& entry : content.at("factors")) out.push_back(from_json(entry));
    return out;
  });
}

}  // namespace

void store_spread(const fs::path& path, const SpreadFactors& factors) {
  json list = json::array();
  for (const auto& entry : entries_of(path))
    if (entry.method != factors.method || entry.task != factors.task) list.push_back(to_json(entry));
  list.push_back(to_json(factors));
  write_json_file(file_of(path), spread_format(), {{"weights_sha256", digest_of(path)}, {"factors", list}});
}

std::optional<SpreadFactors> stored_spread(const fs::path& path, const std::string& method, const std::string& task) {
  for (auto& entry : entries_of(path))
    if (entry.method == method && entry.task == task) return entry;
  return {};
}

void widen(EnsembleSummary& summary, const Tensor& members, int64_t k, const SpreadFactors& factors, const Pde& pde) {
  require<UsageError>(k >= kFewestMembers, "intervals of {:.0f} % need {} members, got {}", 100 * kStatedShare,
                      kFewestMembers, k);
  const auto names = pde.channel_names();
  for (size_t c = 0; c < names.size(); ++c)
    for (const auto& [name, factor] : factors.channels) {
      if (name != names[c]) continue;
      const auto channel = static_cast<int64_t>(c);
      for (int64_t i = 0; i < summary.mean.size(0); ++i) {
        const auto x = members.narrow(0, i * k, k).select(1, channel).to(torch::kCPU, torch::kFloat64);
        const auto sorted = std::get<0>(x.sort(0));
        const auto middle = rank_quantile(sorted, 0.5);
        for (size_t q = 0; q < kEnsembleQuantiles.size(); ++q)
          summary.quantiles[q][i][channel] = middle + factor * (rank_quantile(sorted, kEnsembleQuantiles[q]) - middle);
      }
    }
}

}  // namespace piddm
