#include "piddm/cuda/flow_batch.h"

#include "piddm/train/flow_matching.h"
#include "tests/cuda/gpu.h"

namespace piddm {
namespace {

using testing::kGpu;

/// v = 0; remembers what it was asked.
class Witness : public Network {
 public:
  std::string type() const override { return "witness"; }
  json options_json() const override { return json::object(); }
  Tensor x, t;

 protected:
  Tensor forward(const Tensor& field, const Tensor& time) override {
    x = field, t = time;
    return torch::zeros_like(field);
  }
};

Tensor some_data(int64_t n, const std::vector<int64_t>& shape) { return normal(2, Stream::splits, 0, n, shape); }

class FlowBatchOfProcess : public ::testing::TestWithParam<std::string> {};

// 2x5x7 and 1x3x3 entries are no multiple of four; 3x16x16 is.
TEST_P(FlowBatchOfProcess, EqualsTheComposedFormula) {
  NEEDS_GPU();
  const auto process = process_registry().at(GetParam())();
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 5, 7}, {1, 3, 3}, {3, 16, 16}, {2, 128, 128}})
    for (const int64_t step : {0, 1, 7, 1 << 30}) {
      const auto data = some_data(11, shape);
      const auto times = step == 7 ? Spacing::quadratic : Spacing::uniform;
      Witness on_gpu, on_cpu;
      FlowMatching gpu(on_gpu, process, data.to(kGpu), 6, 5, times), cpu(on_cpu, process, data, 6, 5, times);
      EXPECT_TRUE(gpu.capturable(0));
      EXPECT_FALSE(cpu.capturable(0));
      const double expected = cpu.loss(step).total.item<double>();
      gpu.prepare(step);
      EXPECT_NEAR(gpu.loss(step).total.item<double>(), expected, 1e-5 * expected);
      EXPECT_TRUE(torch::allclose(on_gpu.t.cpu(), on_cpu.t, 0, 1e-7));
      EXPECT_TRUE(torch::allclose(on_gpu.x.cpu(), on_cpu.x, 1e-6, 2e-6)) << shape_string(data) << " step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(Cuda, FlowBatchOfProcess, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& entry : process_registry().entries()) names.push_back(entry.name);
                           return names;
                         }()),
                         [](const auto& test) {
                           auto name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(FlowBatch, PreparesItselfForAnotherStep) {
  NEEDS_GPU();
  Witness witness;
  FlowMatching objective(witness, process_registry().at("linear")(), some_data(9, {2, 4, 4}).to(kGpu), 4, 5);
  objective.loss(3);
  const auto x = witness.x;
  objective.loss(4);
  EXPECT_FALSE(torch::equal(witness.x, x));
  objective.loss(3);
  EXPECT_TRUE(torch::equal(witness.x, x));
}

// Given the noise of the same kernel family, both outputs are the formula bit for bit; nothing is left or written
// beyond.
TEST(FlowBatch, WritesEveryEntryOfBothOutputs) {
  NEEDS_GPU();
  if constexpr (cuda::kBuilt) {
    for (const int64_t size : {1, 6, 8, 515, 516}) {
      constexpr int64_t kBatch = 5, kFirst = 1000;
      const auto data = some_data(7, {size}).to(kGpu), numbers = some_data(8, {kBatch}).to(kGpu);
      const auto rows = torch::tensor({6, 0, 3, 3, 1}, torch::kInt64).to(kGpu);
      const auto first = torch::full({1}, kFirst - 1, torch::TensorOptions(torch::kInt64).device(kGpu));
      auto x_t = testing::poisoned({kBatch + 1, size}), target = testing::poisoned({kBatch + 1, size});
      const auto scalar = [&](int64_t i) { return numbers[i].data_ptr<float>(); };
      cuda::flow_batch({data.data_ptr<float>(),
                        rows.data_ptr<int64_t>(),
                        scalar(0),
                        scalar(1),
                        scalar(2),
                        scalar(3),
                        {9, static_cast<uint32_t>(Stream::noise), first.data_ptr<int64_t>(), 1, kBatch, size},
                        x_t.data_ptr<float>(),
                        target.data_ptr<float>()},
                       cuda::current_stream());
      const auto e = normal(9, Stream::noise, kFirst, kBatch, {size}, torch::kFloat32, kGpu);
      const auto x0 = data.index_select(0, rows), c = numbers.unsqueeze(2);
      EXPECT_TRUE(torch::equal(x_t.narrow(0, 0, kBatch), c[0] * x0 + c[1] * e)) << size;
      EXPECT_TRUE(torch::equal(target.narrow(0, 0, kBatch), c[2] * x0 + c[3] * e)) << size;
      EXPECT_TRUE(x_t[kBatch].isnan().all().item<bool>() && target[kBatch].isnan().all().item<bool>()) << size;
    }
  }
}

}  // namespace
}  // namespace piddm
