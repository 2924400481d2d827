#include "piddm/solve/task/functionals.h"

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

/// Three samples of 16x16 with 2, 0 and 3 rows.
Functionals some() {
  return {.sample = torch::tensor({0, 0, 2, 2, 2}),
          .channel = torch::tensor({0, 1, 1, 0, 0}),
          .value = torch::tensor({1.0, 2.0, 3.0, 4.0, 5.0}, torch::kFloat64),
          .sigma = torch::tensor({0.1, 0.0, 0.2, 0.3, 0.4}, torch::kFloat64),
          .gain = torch::tensor({1.0, 1.0, 1.0, 2.0, 1.0}, torch::kFloat64),
          .row = torch::tensor({0, 0, 1, 2, 2, 2, 3, 4}),
          .entry = torch::tensor({3, 17, 300, 256, 300, 511, 5, 5}),
          .weight = torch::tensor({0.5, 0.5, 1.0, 0.2, 0.3, 0.5, 2.0, -1.0}, torch::kFloat64)};
}

/// The rows as a matrix over the flattened [B,C,H,W].
Tensor dense(const Functionals& f, int64_t samples) {
  auto a = torch::zeros({f.size(), samples * 512}, torch::kFloat64);
  for (int64_t k = 0; k < f.row.size(0); ++k) {
    const auto row = f.row[k].item<int64_t>();
    a[row][f.sample[row].item<int64_t>() * 512 + f.entry[k].item<int64_t>()] += f.weight[k];
  }
  return a;
}

TEST(Functionals, ApplyAndTransposedAreTheirMatrix) {
  const auto f = some();
  const auto x = normal(1, Stream::noise, 0, 3, {2, 16, 16}, torch::kFloat64);
  const auto y = normal(2, Stream::noise, 0, 1, {5}, torch::kFloat64)[0], a = dense(f, 3);
  EXPECT_LT(testing::relative_error(f.apply(x), a.mv(x.flatten())), 1e-12);
  EXPECT_LT(testing::relative_error(f.transposed(y, x).flatten(), a.t().mv(y)), 1e-12);
  const auto leaf = x.clone().requires_grad_();
  EXPECT_LT(testing::relative_error(torch::autograd::grad({f.apply(leaf)}, {leaf}, {y})[0].flatten(), a.t().mv(y)),
            1e-12);
}

TEST(Functionals, SelectionTakesSamplesInAnyOrderAndWithRepeats) {
  const auto f = some();
  const auto x = normal(1, Stream::noise, 0, 3, {2, 16, 16}, torch::kFloat64);
  const auto order = torch::tensor({2, 2, 1, 0});
  const auto selected = f.select(order);
  EXPECT_TRUE(torch::equal(selected.count(4), torch::tensor({3, 3, 0, 2})));
  const auto all = f.apply(x);
  EXPECT_TRUE(torch::equal(selected.apply(x.index_select(0, order)),
                           torch::cat({all.slice(0, 2), all.slice(0, 2), all.slice(0, 0, 2)})));
  EXPECT_TRUE(torch::equal(selected.value, torch::tensor({3., 4., 5., 3., 4., 5., 1., 2.}, torch::kFloat64)));
  EXPECT_TRUE(f.select(torch::tensor({1})).empty());
  const auto of_u = f.keep(f.channel == 0);
  EXPECT_TRUE(torch::equal(of_u.apply(x), all.index_select(0, torch::tensor({0, 3, 4}))));
}

TEST(Functionals, PaddingIsBySampleAndReverses) {
  const auto f = some();
  const auto padded = f.padded(f.value, 3);
  EXPECT_TRUE(torch::equal(padded, torch::tensor({{1., 2., 0.}, {0., 0., 0.}, {3., 4., 5.}}, torch::kFloat64)));
  EXPECT_TRUE(torch::equal(f.unpadded(padded), f.value));
  EXPECT_TRUE(torch::equal(f.sum_by_sample(f.value, 3), torch::tensor({3., 0., 12.}, torch::kFloat64)));
}

TEST(Functionals, NetworkUnitsSayTheSame) {
  const auto model = testing::tiny_teacher();
  const auto f = some(), z = f.to_network(model.normalizer);
  const auto x = testing::tiny_data(3);
  const auto scale = torch::tensor({model.normalizer.scale(0), model.normalizer.scale(1)}, torch::kFloat64);
  const auto unit = scale.index_select(0, f.channel) * f.gain;
  EXPECT_LT(testing::relative_error((z.apply(model.normalizer.to_network(x)) - z.value) * unit, f.apply(x) - f.value),
            1e-9);
  EXPECT_LT(testing::relative_error(z.sigma * unit, f.sigma), 1e-12);
  const auto back = z.to_physical(model.normalizer);
  EXPECT_LT(testing::relative_error(back.value, f.value), 1e-12);
  EXPECT_LT(testing::relative_error(back.weight, f.weight), 1e-12);
}

}  // namespace
}  // namespace piddm
