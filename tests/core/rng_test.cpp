#include "piddm/core/rng.h"

#include <ATen/Parallel.h>

#include <functional>

#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kSamples = 200000;

using Draw = std::function<Tensor(uint64_t, Stream, int64_t, int64_t, std::vector<int64_t>, torch::ScalarType)>;

const Draw kNormal = [](auto&&... where) { return normal(where...); };
const Draw kUniform = [](auto&&... where) { return uniform(where...); };

Tensor many(const Draw& draw) { return draw(7, Stream::noise, 0, 20, {kSamples / 20}, torch::kFloat64).flatten(); }

/// sup |F_N - F| of the Kolmogorov-Smirnov test, from the values F(x_i).
double kolmogorov_distance(const Tensor& cdf) {
  const auto sorted = std::get<0>(cdf.sort());
  const auto rank = torch::arange(cdf.numel(), torch::kFloat64) / static_cast<double>(cdf.numel());
  const auto above = (rank + 1.0 / static_cast<double>(cdf.numel()) - sorted).max(), below = (sorted - rank).max();
  return std::max(above.item<double>(), below.item<double>());
}

/// The bound that true samples break in one of 10^5 cases: P(sqrt(N) D > z) = 2 exp(-2 z^2).
double kolmogorov_bound() { return std::sqrt(std::log(2e5) / 2 / kSamples); }

double moment(const Tensor& x, int power) { return x.pow(power).mean().item<double>(); }

/// Five standard errors of the mean of a quantity with this variance.
double five_sigma(double variance) { return 5 * std::sqrt(variance / kSamples); }

TEST(Philox, KnownAnswers) {
  // kat_vectors of the Random123 distribution, philox4x32 10.
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CounterHoldsPositionStreamAndSample) {
  const int64_t sample = 0x500000003;
  const auto bits = philox({2, static_cast<uint32_t>(Stream::masks), 3, 5}, 99);
  const auto u = uniform(99, Stream::masks, sample, 1, {12}, torch::kFloat64)[0];
  for (int k = 0; k < 4; ++k) EXPECT_EQ(u[8 + k].item<double>(), (bits[k] + 0.5) / 4294967296.0);
  const auto z = normal(99, Stream::masks, sample, 1, {12}, torch::kFloat64)[0];
  const auto radius = [&](int k) { return std::sqrt(-2 * std::log(u[8 + k].item<double>())); };
  for (int k = 0; k < 4; k += 2) {
    const double angle = 2 * M_PI * u[9 + k].item<double>();
    EXPECT_NEAR(z[8 + k].item<double>(), radius(k) * std::cos(angle), 1e-14);
    EXPECT_NEAR(z[9 + k].item<double>(), radius(k) * std::sin(angle), 1e-14);
  }
}

class Addressing : public ::testing::TestWithParam<std::pair<std::string, Draw>> {
 protected:
  Tensor draw(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
              torch::ScalarType dtype = torch::kFloat32) const {
    return GetParam().second(seed, stream, first, count, shape, dtype);
  }
};

TEST_P(Addressing, AnyBatchSplitGivesTheSameBits) {
  for (const auto& shape : std::vector<std::vector<int64_t>>{{2, 3, 5}, {1}, {7}, {4}, {3, 3}, {}}) {
    const auto whole = draw(3, Stream::latents, 10, 9, shape);
    const auto parts = torch::cat({draw(3, Stream::latents, 10, 1, shape), draw(3, Stream::latents, 11, 6, shape),
                                   draw(3, Stream::latents, 17, 2, shape)});
    EXPECT_TRUE(whole.equal(parts)) << shape_string(whole);
    EXPECT_EQ(draw(3, Stream::latents, 10, 0, shape).numel(), 0);
  }
}

TEST_P(Addressing, ThreadCountDoesNotMatter) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = draw(3, Stream::noise, 0, 5, {2, 63, 61});
  at::set_num_threads(2);
  const auto two = draw(3, Stream::noise, 0, 5, {2, 63, 61});
  at::set_num_threads(before);
  EXPECT_TRUE(one.equal(two));
}

TEST_P(Addressing, Float32IsRoundedFloat64) {
  const auto exact = draw(5, Stream::noise, 0, 3, {1001}, torch::kFloat64);
  EXPECT_TRUE(draw(5, Stream::noise, 0, 3, {1001}).equal(exact.to(torch::kFloat32)));
}

TEST_P(Addressing, LongerSamplesStartWithTheShorterOnes) {
  EXPECT_TRUE(draw(5, Stream::noise, 4, 2, {11}).narrow(1, 0, 6).equal(draw(5, Stream::noise, 4, 2, {6})));
}

TEST_P(Addressing, SeedsStreamsAndSamplesDiffer) {
  const auto base = draw(1, Stream::noise, 0, 1, {64});
  const std::vector<Tensor> others = {draw(2, Stream::noise, 0, 1, {64}),
                                      draw(1ULL << 32 | 1, Stream::noise, 0, 1, {64}),
                                      draw(1, Stream::latents, 0, 1, {64}), draw(1, Stream::noise, 1, 1, {64}),
                                      draw(1, Stream::noise, 1LL << 32, 1, {64})};
  for (const auto& other : others) EXPECT_FALSE(base.eq(other).any().item<bool>());
}

TEST_P(Addressing, NegativeIndicesAreRefused) {
  EXPECT_THROW(draw(1, Stream::noise, -1, 1, {4}), c10::Error);
  EXPECT_THROW(draw(1, Stream::noise, 0, -1, {4}), c10::Error);
}

INSTANTIATE_TEST_SUITE_P(Rng, Addressing,
                         ::testing::Values(std::pair<std::string, Draw>{"Normal", kNormal},
                                           std::pair<std::string, Draw>{"Uniform", kUniform}),
                         [](const auto& test) { return test.param.first; });

TEST(Normal, HasTheMomentsAndLawOfANormal) {
  const auto z = many(kNormal);
  EXPECT_NEAR(moment(z, 1), 0, five_sigma(1));
  EXPECT_NEAR(moment(z, 2), 1, five_sigma(2));
  EXPECT_NEAR(moment(z, 3), 0, five_sigma(15));
  EXPECT_NEAR(moment(z, 4), 3, five_sigma(96));
  EXPECT_LT(kolmogorov_distance(0.5 * torch::erfc(-z / std::sqrt(2.0))), kolmogorov_bound());
}

TEST(Normal, NeighboursAreUncorrelated) {
  const auto z = many(kNormal);
  for (int64_t lag = 1; lag <= 5; ++lag)
    EXPECT_NEAR((z.narrow(0, 0, kSamples - lag) * z.narrow(0, lag, kSamples - lag)).mean().item<double>(), 0,
                five_sigma(1))
        << lag;
}

TEST(Uniform, HasTheMomentsAndLawOfAUniform) {
  const auto u = many(kUniform);
  EXPECT_GT(u.min().item<double>(), 0);
  EXPECT_LT(u.max().item<double>(), 1);
  EXPECT_NEAR(moment(u, 1), 1.0 / 2, five_sigma(1.0 / 12));
  EXPECT_NEAR(moment(u, 2), 1.0 / 3, five_sigma(1.0 / 5 - 1.0 / 9));
  EXPECT_LT(kolmogorov_distance(u), kolmogorov_bound());
}

TEST(Uniform, TakesTheFirstSampleFromATensor) {
  const auto first = torch::full({1}, (int64_t{1} << 40) + 3, torch::kInt64);
  for (const auto dtype : {torch::kFloat32, torch::kFloat64})
    EXPECT_TRUE(uniform(8, Stream::time, first, 5, {3}, dtype)
                    .equal(uniform(8, Stream::time, (int64_t{1} << 40) + 3, 5, {3}, dtype)));
  EXPECT_THROW(uniform(8, Stream::time, torch::zeros({2}, torch::kInt64), 5, {3}), c10::Error);
  EXPECT_THROW(uniform(8, Stream::time, torch::zeros({1}), 5, {3}), c10::Error);
}

TEST(Permutation, HoldsEachNumberOnce) {
  for (const int64_t n : {0, 1, 2, 7, 1000})
    EXPECT_TRUE(std::get<0>(permutation(1, Stream::batches, 0, n).sort()).equal(torch::arange(n))) << n;
}

TEST(Permutation, IsAFunctionOfSeedStreamAndIndex) {
  const auto base = permutation(1, Stream::batches, 0, 100);
  EXPECT_TRUE(base.equal(permutation(1, Stream::batches, 0, 100)));
  EXPECT_FALSE(base.equal(permutation(2, Stream::batches, 0, 100)));
  EXPECT_FALSE(base.equal(permutation(1, Stream::splits, 0, 100)));
  EXPECT_FALSE(base.equal(permutation(1, Stream::batches, 1, 100)));
}

TEST(Permutation, AllOrdersAreEquallyLikely) {
  constexpr int kTrials = 6000;
  std::map<std::vector<int64_t>, int> counts;
  for (int i = 0; i < kTrials; ++i) {
    const auto p = permutation(4, Stream::batches, i, 3);
    ++counts[std::vector<int64_t>(p.data_ptr<int64_t>(), p.data_ptr<int64_t>() + 3)];
  }
  ASSERT_EQ(counts.size(), 6u);
  const double share = 1.0 / 6;
  for (const auto& [order, count] : counts)
    EXPECT_NEAR(count, kTrials * share, 5 * std::sqrt(kTrials * share * (1 - share)));
}

}  // namespace
}  // namespace piddm
