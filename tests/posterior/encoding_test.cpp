#include "piddm/posterior/encoding.h"

#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kGrid = 16;

struct Sensor {
  int64_t channel, i, j;
  double value, sigma = 0;
};

Footprints sensors(const Pde& pde, const std::vector<Sensor>& list) {
  const auto zeros = torch::zeros({1, pde.num_channels(), pde.grid().height(), pde.grid().width()});
  Footprints out{zeros.to(torch::kBool), zeros.clone(), zeros.clone()};
  for (const auto& s : list) {
    out.known[0][s.channel][s.i][s.j] = true;
    out.value[0][s.channel][s.i][s.j] = s.value;
    out.sigma[0][s.channel][s.i][s.j] = s.sigma;
  }
  return out;
}

const PdePtr& darcy() {
  static const auto pde = make_pde({"darcy", kGrid});
  return pde;
}

Tensor images(const std::vector<Sensor>& list) { return encode(sensors(*darcy(), list), *darcy())[0]; }

TEST(Encoding, OfNothingIsZero) {
  EXPECT_EQ(encoding_channels(*darcy()), 8);
  EXPECT_EQ(images({}).abs().max().item<double>(), 0);
}

TEST(Encoding, OfOnePointIsItsFootprintAndItsValueEverywhere) {
  const auto x = images({{1, 3, 4, 2.0}});
  EXPECT_EQ(x.narrow(0, 0, 4).abs().max().item<double>(), 0);  // of the other channel
  EXPECT_EQ(x[4].sum().item<double>(), 1);
  EXPECT_EQ(x[4][3][4].item<double>(), 1);
  EXPECT_EQ(x[5].sum().item<double>(), 2);
  EXPECT_TRUE((x[6] == 2).all().item<bool>());
  const double reach = 0.05 * kGrid;
  EXPECT_EQ(x[7][3][4].item<double>(), 1);
  EXPECT_NEAR(x[7][3][7].item<double>(), reach / (reach + 3), 1e-6);
}

TEST(Encoding, TakesTheNearestOfSeveralPoints) {
  const auto x = images({{0, 0, 0, 1.0}, {0, 15, 15, -1.0}});
  EXPECT_EQ(x[2][2][2].item<double>(), 1);
  EXPECT_EQ(x[2][14][12].item<double>(), -1);
}

TEST(Encoding, OfNoiseFadesContinuouslyFromExactToUnknown) {
  double before = 2;
  for (const double sigma : {0.0, 1e-3, 0.01, 0.1, 1.0, 100.0}) {
    const auto x = images({{0, 5, 5, 1.5, sigma}});
    const double precision = x[0][5][5].item<double>();
    EXPECT_NEAR(precision, 0.02 / (0.02 + sigma), 1e-6);
    EXPECT_LT(precision, before);
    before = precision;
  }
  EXPECT_LT((images({{0, 5, 5, 1.5, 1e6}}) - images({})).abs().max().item<double>(), 1e-6);
  EXPECT_LT((images({{0, 5, 5, 1.5, 1e-7}}) - images({{0, 5, 5, 1.5}})).abs().max().item<double>(), 1e-5);
}

TEST(Encoding, OfScalarsIsTwoConstantImages) {
  const auto pde = make_pde({"stokes", kGrid});
  ASSERT_TRUE(pde->channels()[1].scalar);
  Target target;
  target.values = torch::full({1, pde->num_channels(), kGrid, kGrid}, 0.5);
  target.mask = torch::zeros_like(target.values);
  target.mask.select(1, 1).fill_(1);
  target.sigma = torch::zeros_like(target.values);
  const auto x = encode(footprints_of(target), *pde)[0];
  ASSERT_EQ(x.size(0), encoding_channels(*pde));
  EXPECT_EQ(x.narrow(0, 0, 4).abs().max().item<double>(), 0);
  EXPECT_TRUE((x[4] == 1).all().item<bool>());
  EXPECT_TRUE((x[5] == 0.5).all().item<bool>());
}

TEST(Encoding, OfACaseDoesNotDependOnTheOthers) {
  const auto a = sensors(*darcy(), {{0, 1, 2, 1.0}, {1, 9, 3, 0.5, 0.1}}), b = sensors(*darcy(), {{0, 8, 8, -1.0}});
  const auto both = [&](const Tensor& x, const Tensor& y) { return torch::cat({x, y}); };
  const auto x = encode({both(a.known, b.known), both(a.value, b.value), both(a.sigma, b.sigma)}, *darcy());
  EXPECT_TRUE(x[0].equal(encode(a, *darcy())[0]));
  EXPECT_TRUE(x[1].equal(encode(b, *darcy())[0]));
}

}  // namespace
}  // namespace piddm
