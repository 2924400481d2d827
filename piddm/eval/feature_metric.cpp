#include "piddm/eval/feature_metric.h"

#include <array>
#include <memory>

#include "piddm/pde/pde_file.h"

namespace piddm {

namespace {

constexpr std::array kTimes = {0.05, 0.2, 0.5, 0.8};
constexpr int64_t kBlocks = 4, kBatch = 32;

/// Mean and root mean square over kBlocks x kBlocks blocks of [B,C,H,W]: [B, C 2 kBlocks^2].
Tensor block_statistics(const Tensor& v) {
  const auto mean = torch::adaptive_avg_pool2d(v, {kBlocks, kBlocks});
  const auto rms = torch::adaptive_avg_pool2d(v.square(), {kBlocks, kBlocks}).sqrt();
  return torch::cat({mean, rms}, 1).flatten(1);
}

Tensor velocity_features(const Model& teacher, const Tensor& x) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> parts;
  for (const auto& part : x.split(kBatch)) {
    const auto z = teacher.normalizer.to_network(part.to(torch::kFloat64)).to(teacher.device(), torch::kFloat32);
    std::vector<Tensor> at_times;
    for (const double t : kTimes)
      at_times.push_back(block_statistics((*teacher.network)(z, torch::full({1}, t, z.options()))));
    parts.push_back(torch::cat(at_times, 1).to(torch::kCPU));
  }
  return torch::cat(parts);
}

}  // namespace

std::vector<FeatureMetric> poseidon_metrics(const ScotEncoder& encoder, const Pde& pde) {
  const auto shared = std::make_shared<const ScotEncoder>(encoder);
  std::vector<FeatureMetric> out;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    if (!channel.scalar)
      out.push_back({out.empty() ? "fpd" : "fpd_" + channel.name,
                     [shared, c](const Tensor& x) { return shared->features(x.select(1, c)); }});
  }
  return out;
}

FeatureMetric teacher_metric(const Model& teacher, const Pde& pde) {
  require<UsageError>(teacher.kind == ModelKind::teacher,
                      "--features: this model is a student; the stand-in for FPD needs a teacher");
  const bool same = pde_difference(pde.options(), teacher.pde->options()).empty();
  require<UsageError>(same && teacher.pde->grid() == pde.grid(),
                      "--features: a teacher of {} on {}, but the samples are of {} on {}", teacher.pde->name(),
                      teacher.pde->grid().text(), pde.name(), pde.grid().text());
  return {"frechet_teacher", [teacher](const Tensor& x) { return velocity_features(teacher, x); }};
}

}  // namespace piddm
