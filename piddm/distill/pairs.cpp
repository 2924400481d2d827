#include "piddm/distill/pairs.h"

#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"
#include "piddm/model/flow.h"
#include "piddm/model/weights.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kBatch = 64;

std::string key_of(const Model& teacher, uint64_t seed, const PairOptions& options) {
  return sha256_hex(fmt::format("{} {} {} {} {} {} {}", weights_digest(*teacher.network),
                                teacher.pde->grid().to_json().dump(), teacher.process->name(), seed, options.steps,
                                static_cast<int>(options.integrator), static_cast<int>(options.spacing)));
}

std::string hash_of(const Tensor& targets) { return sha256_hex(bytes_of(packed(targets))); }

// The stored targets, if the file is there, intact and of these pairs.
Tensor read_cached(const fs::path& file, const std::string& key) {
  if (!fs::exists(file)) return {};
  try {
    const auto content = read_safetensors(file);
    if (content.metadata.at("key") != key) return {};
    auto targets = content.tensors.at("targets");
    require<DataError>(content.metadata.at("sha256") == hash_of(targets), "its SHA-256 differs");
    return targets;
  } catch (const std::exception& error) {
    spdlog::warn("{}: unreadable, made again ({})", file.string(), error.what());
  }
  return {};
}

}  // namespace

PairSource::PairSource(Model teacher, uint64_t seed, const PairOptions& options, fs::path cache)
    : teacher_(std::move(teacher)),
      seed_(seed),
      options_(options),
      cache_(std::move(cache)),
      key_(key_of(teacher_, seed, options)) {
  check_bounds(options, "distill.pairs");
  std::error_code error;
  fs::create_directories(cache_, error);
  require<ResourceError>(!error, "pairs: {}: cannot make this folder: {}", cache_.string(), error.message());
}

Pairs PairSource::load(Stream stream, int64_t number, int64_t count) {
  const auto latents = teacher_.latents(seed_, stream, number * count, count);
  const auto key = fmt::format("{} {} {} {}", key_, static_cast<uint32_t>(stream), number, count);
  const auto file = cache_ / fmt::format("{}-{}.safetensors", stream == Stream::pairs ? "pairs" : "held-out", number);
  auto targets = read_cached(file, key);
  if (!targets.defined()) {
    targets = sample_teacher(teacher_, latents,
                             {.kind = options_.integrator, .steps = options_.steps, .spacing = options_.spacing},
                             "teacher pairs");
    write_safetensors(file, {{"targets", targets}},
                      {{"format", "piddm-pairs"}, {"version", "2"}, {"key", key}, {"sha256", hash_of(targets)}});
  }
  return {latents, targets.to(latents.device())};
}

Tensor sample_teacher(const Model& teacher, const Tensor& latents, const IntegratorOptions& integrator,
                      const std::string& label) {
  torch::NoGradGuard no_grad;
  const PrecisionScope precision(*teacher.network, Precision::bf16);
  const int64_t n = latents.size(0);
  Progress progress(label, n);
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < n; first += kBatch) {
    const int64_t count = std::min(kBatch, n - first);
    parts.push_back(flow(teacher, latents.narrow(0, first, count), integrator).x);
    progress.advance(count);
  }
  return torch::cat(parts);
}

}  // namespace piddm
