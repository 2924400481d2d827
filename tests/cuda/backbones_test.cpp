// Networks beside the FNO on a GPU: the values and gradients of the CPU, in every precision and from a recording.

#include "piddm/model/network.h"
#include "tests/cuda/gpu.h"

namespace piddm {
namespace {

using testing::relative_error;

const std::map<std::string, json>& options() {
  static const std::map<std::string, json> all = {
      {"unet", {{"width", 8}, {"multipliers", {1, 2, 2}}, {"head_width", 8}, {"groups", 4}}},
      {"autoencoder", {{"width", 8}, {"multipliers", {1, 2, 2}}, {"groups", 4}}},
      {"ffno", {{"modes", {8, 8}}, {"width", 16}}},
      {"mlp", {{"points", 20 * 17}}}};
  return all;
}

class BackboneOnGpu : public ::testing::TestWithParam<std::string> {
 protected:
  /// Weights that are nowhere zero.
  NetworkPtr network() const {
    const auto made = make_network(GetParam(), options().at(GetParam()), 3);
    torch::manual_seed(4);
    const torch::NoGradGuard no_grad;
    for (auto& p : made->parameters()) p.add_(0.05 * torch::randn_like(p));
    return made;
  }

  /// Output and gradient of the input, on the CPU in float64.
  std::pair<Tensor, Tensor> run(Network& net, torch::Device device, torch::ScalarType dtype) const {
    net.to(device, dtype);
    const auto v = x.to(device, dtype).requires_grad_();
    const auto y = net(v, t.to(device, dtype));
    const auto gradient = torch::autograd::grad({y.square().mean()}, {v})[0];
    return {y.detach().cpu().to(torch::kFloat64), gradient.cpu().to(torch::kFloat64)};
  }

  const Tensor x = torch::randn({3, 2, 20, 17}), t = torch::tensor({0.125f, 0.5f, 1.0f});
};

TEST_P(BackboneOnGpu, GivesTheValuesAndGradientsOfTheCpu) {
  NEEDS_GPU();
  const auto [y, gradient] = run(*network(), torch::kCPU, torch::kFloat64);
  const std::vector<std::pair<Precision, double>> cases = {
      {Precision::fp32, 2e-5}, {Precision::tf32, 2e-2}, {Precision::bf16, 1e-1}};
  for (const auto& [precision, tolerance] : cases) {
    const auto net = network();
    net->set_precision(precision);
    const auto [got, slope] = run(*net, testing::kGpu, torch::kFloat32);
    EXPECT_LT(relative_error(got, y), tolerance) << static_cast<int>(precision);
    EXPECT_LT(relative_error(slope, gradient), 2 * tolerance) << static_cast<int>(precision);
  }
}

TEST_P(BackboneOnGpu, ARecordingGivesTheSame) {
  NEEDS_GPU();
  const auto net = network();
  const auto expected = run(*net, testing::kGpu, torch::kFloat32).first;
  const torch::NoGradGuard no_grad;
  for (int i = 0; i < kReplayAfter + 3; ++i)
    EXPECT_LT(relative_error((*net)(x.to(testing::kGpu), t.to(testing::kGpu)).cpu(), expected), 1e-5) << "call " << i;
}

INSTANTIATE_TEST_SUITE_P(Types, BackboneOnGpu, ::testing::Values("unet", "autoencoder", "ffno", "mlp"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace piddm
