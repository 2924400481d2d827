// Constraint kinds: exact, idempotent, nothing else touched, differentiable; and what users may write.

#include "piddm/pde/constraint.h"

#include "piddm/core/toml_text.h"
#include "tests/pde/closed.h"

namespace piddm {
namespace {

using namespace piddm::testing;

constexpr int64_t kN = 16;

Tensor random_fields(int64_t batch = 3) { return torch::randn({batch, 2, kN, kN}, torch::kFloat64); }

Tensor line() { return torch::arange(kN, torch::kFloat64) / 7 - 1; }

/// What every constraint must do, for one of any kind; `exact` is 0 unless sums are involved.
void expect_constraint(const Constraint& constraint, double exact) {
  const Tensor x = random_fields(), y = constraint.adjust(x), mask = constraint.constrained(x);
  EXPECT_EQ(mask.sizes(), torch::IntArrayRef({2, kN, kN}));
  const Tensor changed = (y != x);
  EXPECT_TRUE(changed.any().item<bool>());
  EXPECT_FALSE(changed.logical_and(mask.logical_not()).any().item<bool>());
  EXPECT_LE((constraint.adjust(y) - y).abs().max().item<double>(), exact);
  EXPECT_LE(constraint.error(y).max().item<double>(), exact * exact);
  const Tensor by_hand = (y - x).square().masked_select(mask).view({3, -1}).mean(1);
  EXPECT_LT(relative_error(constraint.error(x), by_hand), 1e-14);
  const Tensor weights = torch::randn_like(x);
  EXPECT_LT(gradient_deviation([&](const Tensor& f) { return (constraint.adjust(f) * weights).square().sum(); }, x),
            1e-6);
  EXPECT_TRUE(torch::equal(constraint.adjust(x.narrow(0, 1, 1)), y.narrow(0, 1, 1)));
  EXPECT_EQ(constraint.adjust(x.to(torch::kFloat32)).scalar_type(), torch::kFloat32);
}

TEST(Constraint, Dirichlet) {
  const Tensor values = torch::randn({kN, kN}, torch::kFloat64), mask = torch::rand({kN, kN}) < 0.3;
  const auto constraint = dirichlet_constraint(1, values, mask);
  expect_constraint(*constraint, 0);
  const Tensor y = constraint->adjust(random_fields());
  for (int64_t b = 0; b < 3; ++b) EXPECT_TRUE(torch::equal(y[b][1].masked_select(mask), values.masked_select(mask)));
  EXPECT_EQ(constraint->constrained(y).sum().item<int64_t>(), mask.sum().item<int64_t>());
}

TEST(Constraint, Slices) {
  for (const Axis axis : {Axis::h, Axis::w})
    for (const int64_t index : {int64_t{0}, int64_t{5}, int64_t{-1}}) {
      const auto constraint = slice_constraint(0, axis, index, line());
      expect_constraint(*constraint, 0);
      const Tensor y = constraint->adjust(random_fields());
      EXPECT_TRUE(torch::equal(y[2][0].select(axis == Axis::h ? 0 : 1, index), line()));
      EXPECT_EQ(constraint->constrained(y).sum().item<int64_t>(), kN);
    }
  expect_constraint(*slice_constraint(1, Axis::h, 3, torch::tensor(2.5, torch::kFloat64)), 0);
}

TEST(Constraint, Periodic) {
  for (const Axis axis : {Axis::h, Axis::w}) {
    const auto constraint = periodic_constraint(1, axis);
    expect_constraint(*constraint, 0);
    const Tensor x = random_fields(), y = constraint->adjust(x);
    const int64_t dim = axis == Axis::h ? 1 : 2;
    EXPECT_TRUE(torch::equal(y.select(1, 1).select(dim, 0), y.select(1, 1).select(dim, kN - 1)));
    EXPECT_LT(relative_error(y.select(1, 1).select(dim, 0),
                             (x.select(1, 1).select(dim, 0) + x.select(1, 1).select(dim, kN - 1)) / 2),
              1e-15);
  }
}

TEST(Constraint, ConservationAlongOneAxis) {
  for (const Axis axis : {Axis::h, Axis::w}) {
    const auto constraint = conservation_constraint(0, {axis}, line(), 2.5);
    expect_constraint(*constraint, 1e-14);
    const Tensor x = random_fields(), y = constraint->adjust(x);
    const int64_t dim = axis == Axis::h ? 1 : 2;
    EXPECT_LT((y.select(1, 0).mean(dim) * 2.5 - line()).abs().max().item<double>(), 1e-14);
    const Tensor change = (y - x).select(1, 0);  // one constant for each remaining index
    EXPECT_LT((change - change.narrow(dim, 0, 1)).abs().max().item<double>(), 1e-14);
  }
}

TEST(Constraint, ConservationOverBothAxes) {
  const auto constraint = conservation_constraint(1, {Axis::w, Axis::h}, torch::tensor(0.3, torch::kFloat64));
  expect_constraint(*constraint, 1e-14);
  EXPECT_LT((constraint->adjust(random_fields()).select(1, 1).mean({1, 2}) - 0.3).abs().max().item<double>(), 1e-15);
}

TEST(Constraint, ChainAppliesInOrder) {
  const Tensor zero = torch::zeros({}, torch::kFloat64), one = torch::ones({}, torch::kFloat64);
  const auto chain = chain_constraint(
      {slice_constraint(0, Axis::w, 0, zero), slice_constraint(0, Axis::h, 0, one), periodic_constraint(1, Axis::h)});
  expect_constraint(*chain, 0);
  const Tensor x = random_fields(), y = chain->adjust(x);
  EXPECT_EQ(y[0][0][0][0].item<double>(), 1);
  EXPECT_EQ(y[0][0][1][0].item<double>(), 0);
  EXPECT_EQ(chain->constrained(x).sum().item<int64_t>(), 2 * kN - 1 + 2 * kN);
}

TEST(Constraint, WrongShapesAreNamed) {
  const auto slice = slice_constraint(2, Axis::h, 0, line());
  EXPECT_ERROR(slice->adjust(random_fields()), ExitCode::data, "a channel 2, got (3,2,16,16)");
  EXPECT_ERROR(slice_constraint(0, Axis::h, 16, line())->adjust(random_fields()), ExitCode::data, "no slice 16");
  EXPECT_ERROR(slice_constraint(0, Axis::h, 0, line().slice(0, 3))->adjust(random_fields()), ExitCode::data,
               "13 values do not fit a field (3,2,16,16)");
  const Tensor mask = torch::ones({4, 4}, torch::kBool);
  EXPECT_ERROR(dirichlet_constraint(0, torch::ones({4, 4}), mask)->adjust(random_fields()), ExitCode::data, "(4,4)");
  EXPECT_ERROR(dirichlet_constraint(0, torch::ones({4, 5}), mask), ExitCode::data, "(4,5)");
  EXPECT_ERROR(dirichlet_constraint(0, torch::ones({4, 4}), mask.logical_not()), ExitCode::data, "empty");
  EXPECT_ERROR(conservation_constraint(0, {Axis::h, Axis::h}, line()), ExitCode::usage, "different");
  EXPECT_ERROR(conservation_constraint(0, {}, line()), ExitCode::usage, "one axis");
  EXPECT_ERROR(conservation_constraint(0, {Axis::h}, line(), 0), ExitCode::usage, "area = 0");
  EXPECT_ERROR(chain_constraint({}), ExitCode::usage, "chain");
}

ConstraintPtr read(const std::string& toml) { return make_constraint(parse_toml(toml, "test.toml"), *pde("heat", kN)); }

/// That a text and an object mean the same.
void expect_same(const std::string& toml, const ConstraintPtr& expected) {
  const Tensor x = random_fields();
  const auto constraint = read(toml);
  EXPECT_TRUE(torch::equal(constraint->adjust(x), expected->adjust(x))) << toml;
  EXPECT_TRUE(torch::equal(constraint->constrained(x), expected->constrained(x))) << toml;
}

TEST(MakeConstraint, ReadsEveryKind) {
  const Tensor two = torch::tensor(2.0, torch::kFloat64);
  expect_same("kind = 'slice'\nchannel = 'phi'\naxis = 't'\nindex = -2\nvalue = 2",
              slice_constraint(1, Axis::w, -2, two));
  expect_same("kind = 'initial'\nvalue = 2.0", slice_constraint(0, Axis::w, 0, two));
  expect_same("kind = 'boundary'\nside = 'last'\nvalue = 2", slice_constraint(0, Axis::h, -1, two));
  expect_same("kind = 'boundary'\naxis = 't'\nvalue = 2", slice_constraint(0, Axis::w, 0, two));
  expect_same("kind = 'periodic'\naxis = 'x'", periodic_constraint(0, Axis::h));
  expect_same("kind = 'conservation'\nvalue = 2\narea = 4.0", conservation_constraint(0, {Axis::h}, two, 4));
  expect_same("kind = 'conservation'\naxes = ['x', 't']\nvalue = 2",
              conservation_constraint(0, {Axis::h, Axis::w}, two));
  expect_same("kind = 'chain'\n[[members]]\nkind = 'initial'\nvalue = 2\n[[members]]\nkind = 'periodic'",
              chain_constraint({slice_constraint(0, Axis::w, 0, two), periodic_constraint(0, Axis::h)}));
}

TEST(MakeConstraint, ReadsMasks) {
  Tensor field = torch::zeros({kN, kN}, torch::kFloat64), mask = torch::zeros({kN, kN}, torch::kBool);
  field[3][4] = 1.5;
  field[0][15] = -2;
  expect_same("kind = 'dirichlet'\npoints = [[3, 4], [0, 15]]\nvalue = [1.5, -2]",
              dirichlet_constraint(0, field, field != 0));
  mask.slice(0, 2, 5).slice(1, 0, 16).fill_(true);
  expect_same("kind = 'dirichlet'\nbox = [2, 5, 0, 16]\nvalue = 3",
              dirichlet_constraint(0, torch::full({kN, kN}, 3.0, torch::kFloat64), mask));
  const TempDir dir;
  const Tensor values = torch::randn({kN, kN}, torch::kFloat64);
  write_npy(dir / "mask.npy", mask);
  write_npy(dir / "values.npy", values);
  expect_same(fmt::format("kind = 'dirichlet'\nmask = '{}'\nvalue = '{}'", (dir / "mask.npy").string(),
                          (dir / "values.npy").string()),
              dirichlet_constraint(0, values, mask));
}

TEST(MakeConstraint, ReadsListsAndFilesOfValues) {
  std::vector<double> numbers(kN);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25 * static_cast<double>(i);
  const Tensor expected = torch::tensor(numbers, torch::kFloat64), x = random_fields();
  const json spec = {{"kind", "initial"}, {"value", numbers}};
  EXPECT_TRUE(torch::equal(make_constraint(spec, *pde("heat", kN))->adjust(x).select(1, 0).select(2, 0),
                           expected.expand({3, kN})));
  const TempDir dir;
  write_npy(dir / "start.npy", expected);
  expect_same(fmt::format("kind = 'initial'\nvalue = '{}'", (dir / "start.npy").string()),
              slice_constraint(0, Axis::w, 0, expected));
  EXPECT_TRUE(torch::equal(make_constraint(json::array({spec, spec}), *pde("heat", kN))->adjust(x),
                           make_constraint(spec, *pde("heat", kN))->adjust(x)));
}

TEST(MakeConstraint, ErrorsNameTheNearestKey) {
  const auto expect_message = [](const std::string& toml, const std::string& message) {
    EXPECT_ERROR(read(toml), ExitCode::usage, message);
  };
  expect_message("knid = 'initial'", "constraint.kind: expected one of dirichlet, slice");
  expect_message("kind = 'intial'\nvalue = 0", "unknown constraint kind 'intial'; did you mean 'initial'?");
  expect_message("kind = 'initial'\nvlaue = 0", "'vlaue'; did you mean 'value'?");
  expect_message("kind = 'initial'", "constraint.value is missing");
  expect_message("kind = 'initial'\nchannel = 'phy'\nvalue = 0", "constraint.channel: unknown channel of heat 'phy'");
  expect_message("kind = 'initial'\nvalue = [1, 2]", "constraint.value: expected 16 numbers, got 2");
  expect_message("kind = 'initial'\nvalue = true", "constraint.value: expected a number");
  expect_message("kind = 'slice'\nvalue = 0\naxis = 'x'", "slice needs axis and index");
  expect_message("kind = 'slice'\nvalue = 0\naxis = 'x'\nindex = 16", "constraint.index: 16");
  expect_message("kind = 'slice'\nvalue = 0\naxis = 'z'\nindex = 0", "constraint.axis: unknown axis of heat 'z'");
  expect_message("kind = 'boundary'\naxis = 'y'\nvalue = 0", "constraint.axis: unknown axis of heat 'y'");
  expect_message("kind = 'slice'\nvalue = 0\naxis = 'x'\nindex = 1.5", "constraint.index: expected a whole number");
  EXPECT_ERROR(make_constraint({{"kind", "initial"}, {"value", 0}}, *pde("darcy", kN)), ExitCode::usage,
               "darcy has no time axis");
  expect_message("kind = 'boundary'\nside = 'lsat'\nvalue = 0", "did you mean 'last'?");
  expect_message("kind = 'periodic'\nvalue = 0", "'value'");
  expect_message("kind = 'conservation'\naxes = ['x', 'x']\nvalue = 0", "different");
  expect_message("kind = 'conservation'\nvalue = 0\narea = -1", "constraint.area: must be more than 0, got -1");
  expect_message("kind = 'dirichlet'\nvalue = 0", "exactly one of points, box and mask");
  expect_message("kind = 'dirichlet'\nvalue = 0\npoints = [[0, 16]]", "constraint.points: 16 must be between 0 and 15");
  expect_message("kind = 'dirichlet'\nvalue = 0\npoints = [[0, 1, 2]]", "constraint.points: expected [i, j]");
  expect_message("kind = 'dirichlet'\nvalue = 0\nbox = [0, 1]", "constraint.box: expected [i0, i1, j0, j1]");
  expect_message("kind = 'chain'", "constraint.members: expected a list");
  expect_message("kind = 'chain'\n[[members]]\nkind = 'initial'", "constraint.members[0].value is missing");
}

TEST(MakeConstraint, BadFilesAreDataErrors) {
  const TempDir dir;
  write_npy(dir / "short.npy", torch::ones({3}));
  EXPECT_ERROR(read(fmt::format("kind = 'initial'\nvalue = '{}'", (dir / "short.npy").string())), ExitCode::data,
               "of the shape (16), got (3)");
  EXPECT_ERROR(read("kind = 'initial'\nvalue = 'no-such.npy'"), ExitCode::data, "no-such.npy");
}

}  // namespace
}  // namespace piddm
