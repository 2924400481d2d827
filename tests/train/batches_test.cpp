#include "piddm/train/batches.h"

#include "tests/testing.h"

namespace piddm {
namespace {

Tensor first_batches(BatchOrder order, int64_t count) {
  std::vector<Tensor> parts;
  for (int64_t step = 0; step < count; ++step) parts.push_back(order.batch(step));
  return torch::cat(parts);
}

// 10 samples in batches of 4: epochs end within batches 2, 4, ...; 7 in batches of 16: a batch holds two epochs and
// more.
TEST(BatchOrder, EveryEpochIsAPermutationAcrossBatchBorders) {
  for (const auto& [samples, batch, steps] : {std::tuple{10, 4, 10}, {7, 16, 7}, {5, 5, 4}}) {
    const auto rows = first_batches({samples, batch, 3}, steps);
    ASSERT_EQ(rows.size(0) % samples, 0);
    const auto epochs = rows.view({-1, samples});
    const auto sorted = std::get<0>(epochs.sort(1));
    EXPECT_TRUE(torch::equal(sorted, torch::arange(samples).expand_as(sorted))) << samples << " " << batch;
    EXPECT_FALSE(torch::equal(epochs[0], epochs[1]));
  }
}

TEST(BatchOrder, IsAFunctionOfSeedAndStep) {
  BatchOrder forward(10, 4, 3), backward(10, 4, 3), other(10, 4, 4);
  std::vector<Tensor> expected;
  for (int64_t step = 0; step < 8; ++step) expected.push_back(forward.batch(step));
  for (int64_t step = 7; step >= 0; --step) EXPECT_TRUE(torch::equal(backward.batch(step), expected[step]));
  EXPECT_FALSE(torch::equal(first_batches(other, 8), torch::cat(expected)));
}

}  // namespace
}  // namespace piddm
