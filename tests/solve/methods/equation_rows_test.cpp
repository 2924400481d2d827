#include "piddm/solve/methods/equation_rows.h"

#include "piddm/pde/poisson.h"
#include "tests/flux_darcy.h"
#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Tensor noise_like(const Tensor& x, uint64_t seed) {
  return normal(seed, Stream::splits, 0, x.size(0), x.sizes().slice(1).vec(), torch::kFloat64);
}

Model model_of(const std::string& name, int64_t grid = 16) {
  return testing::small_model(make_pde({.name = name, .grid = grid}));
}

Tensor network_data(const Model& model, int64_t n) { return model.normalizer.to_network(model.pde->sample(7, 0, n)); }

double dot_product(const Tensor& x, const Tensor& y) { return (x * y).sum().item<double>(); }

// Against all eigenvalues of the Jacobian, column by column.
TEST(EquationRows, CurvatureIsTheLargestEigenvalue) {
  const auto model = model_of("poisson", 17);
  const EquationRows rows(model.pde, model.normalizer);
  const auto z = torch::zeros(model.pde->sample_shape(), torch::kFloat64).unsqueeze(0);
  const LinearizedRows at(rows, z, torch::ones_like(z));
  const int64_t count = z.numel(), inside = 15 * 15;
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < count; ++i) {
    auto unit = torch::zeros_like(z);
    unit.view(-1)[i] = 1;
    columns.push_back(at.product(unit).flatten().narrow(0, 0, inside));
  }
  const auto jacobian = torch::stack(columns, 1);
  const double largest =
      2.0 / inside * std::get<0>(torch::linalg_eigh(jacobian.matmul(jacobian.t()), "L")).max().item<double>();
  EXPECT_NEAR(rows.curvature(), largest, 0.05 * largest);
}

// <J v, w> = <v, J^T w> and J v by central differences, on every PDE.
TEST(EquationRows, ProductsAreThoseOfTheJacobian) {
  for (const auto& name : testing::every_pde()) {
    const auto model = testing::small_model(testing::any_pde(name, 16));
    const EquationRows rows(model.pde, model.normalizer);
    const auto z = network_data(model, 2) + 1e-3 * noise_like(network_data(model, 2), 1);
    const auto free = (noise_like(z, 2) > -1).to(torch::kFloat64);
    const LinearizedRows at(rows, z, free);
    const auto v = noise_like(z, 3), w = noise_like(at.value(), 4);
    const double left = dot_product(at.product(v), w), right = dot_product(v, at.transposed(w));
    EXPECT_NEAR(left, right, 1e-10 * at.product(v).norm().item<double>() * w.norm().item<double>()) << name;
    EXPECT_EQ(((1 - free) * at.transposed(w)).abs().max().item<double>(), 0) << name;
    if (name == "pme" || name == "stefan") continue;  // not differentiable at their fronts
    const double step = 1e-5;
    const auto difference = (rows(z + step * free * v) - rows(z - step * free * v)) / (2 * step);
    EXPECT_LT(testing::relative_error(at.product(v), difference), 1e-5) << name;
  }
}

// J of a linear PDE as a matrix; the projection is z - J^+ h, on the free entries.
TEST(EquationRows, ProjectionIsTheNearestPointOfALinearConstraint) {
  const auto model = testing::small_model(std::make_shared<Poisson>(PdeOptions{"poisson", 8}));
  const EquationRows rows(model.pde, model.normalizer);
  const auto z = noise_like(network_data(model, 1), 1);
  auto free = (noise_like(z, 2) > -0.8).to(torch::kFloat64);
  free.select(1, 0).masked_fill_(model.pde->given_boundary(), 1);  // or the ring could contradict its condition
  const LinearizedRows at(rows, torch::zeros({128, 2, 8, 8}, torch::kFloat64), free.expand({128, 2, 8, 8}));
  const auto j = testing::dense_matrix([&](const Tensor& v) { return at.product(v); }, {2, 8, 8});
  const auto nearest = z.flatten() - torch::linalg_pinv(j, 1e-10).mv(rows(z).flatten());
  const auto found = project(rows, z, free, {.newton = 6, .iterations = 500, .tolerance = 1e-12});
  EXPECT_LT(testing::relative_error(found.z.flatten(), nearest), 1e-8);
  EXPECT_LT(found.violation.max().item<double>(), 1e-11);
  EXPECT_TRUE(torch::equal((1 - free) * found.z, (1 - free) * z));
}

// One free number and many rows: least squares.
TEST(EquationRows, MoreRowsThanFreeEntriesAreLeastSquares) {
  const auto model = model_of("stokes");
  const EquationRows rows(model.pde, model.normalizer);
  const auto truth = network_data(model, 3);
  auto z = truth.clone();
  z.select(1, 1).fill_(0.1);
  auto free = torch::zeros_like(z);
  free.select(1, 1).fill_(1);
  const auto found = project(rows, z, free, {.newton = 20, .iterations = 50, .tolerance = 1e-12}).z;
  const auto size = [&](double shift) { return rows(found + shift * free).square().sum({1, 2, 3}); };
  EXPECT_TRUE((size(0) <= size(1e-3)).all().item<bool>() && (size(0) <= size(-1e-3)).all().item<bool>());
  EXPECT_LT((found - truth).select(1, 1).abs().max().item<double>(), 0.1);
}

TEST(EquationRows, SamplesAreOnTheirOwn) {
  const auto model = model_of("darcy");
  const EquationRows rows(model.pde, model.normalizer);
  const auto z = network_data(model, 3) + 0.1 * noise_like(network_data(model, 3), 1), free = torch::ones_like(z);
  const auto together = project(rows, z, free, {.newton = 2}).z;
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(testing::relative_error(project(rows, z.narrow(0, i, 1), free.narrow(0, i, 1), {.newton = 2}).z[0],
                                      together[i]),
              1e-10);
}

}  // namespace
}  // namespace piddm
