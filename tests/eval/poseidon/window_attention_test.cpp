#include "piddm/eval/poseidon/window_attention.h"

#include "tests/eval/poseidon/golden.h"

namespace piddm {
namespace {

using testing::largest_error;
using testing::scot_golden;

TensorMap attention_weights() {
  TensorMap weights;
  for (const char* name :
       {"self.logit_scale", "self.continuous_position_bias_mlp.0.weight", "self.continuous_position_bias_mlp.0.bias",
        "self.continuous_position_bias_mlp.2.weight", "self.query.weight", "self.query.bias", "self.key.weight",
        "self.value.weight", "self.value.bias", "output.dense.weight", "output.dense.bias"})
    weights[std::string("block.") + name] = scot_golden(std::string("attn.param.") + name);
  return weights;
}

TEST(RelativePositions, MatchTheReference) {
  for (const int64_t w : {8, 4, 2, 1})
    EXPECT_LT(largest_error(relative_coordinates(w), scot_golden("cpb.table.w" + std::to_string(w))), 1e-14) << w;
  for (const int64_t w : {4, 2, 1})
    EXPECT_TRUE(torch::equal(relative_index(w), scot_golden("cpb.index.w" + std::to_string(w)))) << w;
}

TEST(ShiftMask, SeparatesWhatWasRolledTogether) {
  const auto mask = shift_mask(16, 16, 8, 4, torch::kFloat64);
  const auto counts = mask.ne(0).sum({1, 2});
  EXPECT_TRUE(torch::equal(counts, torch::tensor({0, 2048, 2048, 3072}, torch::kInt64)));
  EXPECT_EQ(mask.min().item<double>(), -100);
  EXPECT_TRUE(torch::equal(mask, mask.transpose(1, 2)));
}

TEST(Windows, PartitionAndReverseAreInverse) {
  const auto x = torch::arange(2 * 6 * 4 * 3, torch::kFloat64).view({2, 6, 4, 3});
  const auto windows = window_partition(x, 2);
  EXPECT_EQ(windows.sizes().vec(), (std::vector<int64_t>{12, 4, 3}));
  EXPECT_TRUE(torch::equal(windows[1][2], x[0][1][2]));  // second window of the first row, third token: (1,0) of it
  EXPECT_TRUE(torch::equal(window_reverse(windows, 2, 6, 4), x));
}

TEST(WindowAttention, MatchesTheReferenceWithTheMaskAddedTwice) {
  const auto weights = attention_weights();
  const auto bias = position_bias(weights, "block.", 2);
  const auto &x = scot_golden("attn.x"), &mask = scot_golden("attn.mask");
  EXPECT_LT(largest_error(window_attention(x, weights, "block.", bias), scot_golden("attn.y_nomask")), 1e-12);
  EXPECT_LT(largest_error(window_attention(x, weights, "block.", bias, mask), scot_golden("attn.y")), 1e-12);
  EXPECT_GT(largest_error(window_attention(x, weights, "block.", bias, mask / 2), scot_golden("attn.y")), 1.0);
}

TEST(WindowAttention, NamesAMissingWeight) {
  auto weights = attention_weights();
  const auto bias = position_bias(weights, "block.", 2);
  weights.erase("block.self.key.weight");
  EXPECT_ERROR(window_attention(scot_golden("attn.x"), weights, "block.", bias), ExitCode::data,
               "'block.self.key.weight' is missing");
}

}  // namespace
}  // namespace piddm
