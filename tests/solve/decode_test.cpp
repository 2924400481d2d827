#include "piddm/solve/decode.h"

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::tiny_data;
using testing::tiny_pde;

/// True samples with coefficients off by up to 4 and solutions that are nobody's.
Samples near_data(int64_t n) {
  Samples samples;
  samples.x = tiny_data(n);
  samples.x.narrow(1, 1, 1).add_(8 * torch::rand({n, 1, 16, 16}, torch::kFloat64) - 4);
  samples.x.narrow(1, 0, 1).normal_();
  return samples;
}

TEST(Decode, TwoValuedGivesBackCoefficientAndSolution) {
  const auto pde = tiny_pde();
  auto samples = near_data(3);
  decode_samples(samples, *pde, true);
  EXPECT_TRUE(samples.x.select(1, 1).equal(tiny_data(3).select(1, 1)));
  EXPECT_LT(testing::relative_error(samples.x.select(1, 0), tiny_data(3).select(1, 0)), 1e-10);
}

TEST(Decode, WithoutItTheCoefficientStaysAsItIs) {
  auto samples = near_data(3);
  const auto a = samples.x.select(1, 1).clamp_min(0.05).clone();
  decode_samples(samples, *tiny_pde());
  EXPECT_TRUE(samples.x.select(1, 1).equal(a));
}

TEST(Decode, CutKeepsTypeAndOtherChannels) {
  const auto x = near_data(2).x.to(torch::kFloat32), cut = cut_to_two_values(x, *tiny_pde());
  EXPECT_EQ(cut.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(cut.select(1, 0).equal(x.select(1, 0)));
  EXPECT_TRUE(cut.select(1, 1).equal(tiny_data(2).select(1, 1).to(torch::kFloat32)));
}

TEST(Decode, TheSummaryDoesNotDependOnThePieces) {
  const auto pde = tiny_pde();
  const auto all = near_data(5);
  auto whole = all;
  whole.x = all.x.clone();
  const auto at_once = decode_samples(whole, *pde, true);
  DecodeTotal total(*pde, true);
  for (const auto& [first, count] : {std::pair{0, 2}, {2, 3}}) {
    Samples part = all;
    part.x = all.x.narrow(0, first, count);
    total.decode(part);
    EXPECT_TRUE(part.x.equal(whole.x.narrow(0, first, count)));
  }
  EXPECT_EQ(total.summary().moved_max, at_once.moved_max);
  EXPECT_EQ(total.summary().iterations_max, at_once.iterations_max);
}

TEST(Decode, TwoValuedIsRefusedWhereNothingHasTwoValues) {
  const auto pde = make_pde({"poisson", 16});
  Samples samples;
  samples.x = pde->sample(1, 0, 1);
  EXPECT_ERROR(decode_samples(samples, *pde, true), ExitCode::usage, "no coefficient of poisson has only two values");
}

}  // namespace
}  // namespace piddm
