#include "piddm/model/grid_transfer.h"

#include "piddm/model/student.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::relative_error;

/// cos(2 pi (3 x - 2 y) + 1) + 0.5 sin(2 pi 5 y) - 0.2 at the cell centres.
Tensor smooth_field(const GridSize& grid) {
  const auto centres = [](int64_t n) { return (torch::arange(n, torch::kFloat64) + 0.5) / static_cast<double>(n); };
  const auto x = centres(grid.height()).unsqueeze(1), y = centres(grid.width()).unsqueeze(0);
  return torch::cos(2 * M_PI * (3 * x - 2 * y) + 1) + 0.5 * torch::sin(2 * M_PI * 5 * y) - 0.2;
}

TEST(Resample, IsExactForTheModesOfBothGrids) {
  for (const auto& [from, to] : std::vector<std::pair<GridSize, GridSize>>{
           {16, 32}, {32, 16}, {16, 21}, {13, 11}, {{16, 24}, {24, 16}}, {{16, 24}, {16, 11}}, {{9, 24}, {20, 24}}})
    EXPECT_LT(relative_error(resample(smooth_field(from), to), smooth_field(to)), 1e-13)
        << from.text() << " to " << to.text();
}

TEST(Resample, GivesItsOwnGridBack) {
  const auto x = torch::randn({2, 3, 8, 8});
  EXPECT_TRUE(resample(x, 8).is_same(x));
}

TEST(Resample, KeepsTheMeanAndActsOnEachPlane) {
  const auto x = torch::randn({2, 3, 8, 8}, torch::kFloat64);
  const auto y = resample(x, 20);
  EXPECT_LT(relative_error(y.mean({2, 3}), x.mean({2, 3})), 1e-12);
  EXPECT_LT(relative_error(y[1][2], resample(x[1][2], 20)), 1e-13);
}

TEST(Resample, IsDifferentiable) {
  const auto x = torch::randn({1, 1, 6, 6}, torch::kFloat64);
  EXPECT_LT(testing::gradient_error([](const Tensor& v) { return resample(v, 9).pow(3).sum(); }, x), 1e-7);
}

TEST(OnGrid, ChangesTheGridAlone) {
  const auto model = testing::tiny_student();
  const auto fine = on_grid(model, 32);
  EXPECT_EQ(fine.pde->grid(), 32);
  EXPECT_EQ(fine.pde->name(), model.pde->name());
  EXPECT_EQ(fine.network, model.network);
  EXPECT_EQ(model.pde->grid(), testing::kTinyGrid);
}

TEST(OnGrid, StudentCarriesTheLatentOver) {
  const auto model = testing::tiny_student();
  const auto e = model.latents(3, Stream::latents, 5, 2);
  EXPECT_TRUE(on_grid(model, 32).latents(3, Stream::latents, 5, 2).equal(e));
  const Student fine(on_grid(model, 32));
  EXPECT_EQ(fine(e).sizes(), (std::vector<int64_t>{2, 2, 32, 32}));
  EXPECT_TRUE(fine(e).equal(fine(resample(e, 32))));
}

TEST(OnGrid, ThereAndBackIsTheSameModel) {
  const auto model = testing::tiny_student();
  const auto back = on_grid(on_grid(model, 32), testing::kTinyGrid);
  EXPECT_FALSE(back.latent_grid.has_value());
  EXPECT_EQ(back.pde->grid(), testing::kTinyGrid);
  EXPECT_EQ(on_grid(on_grid(model, 32), 64).latent_grid, testing::kTinyGrid);
}

TEST(OnGrid, IsKeptOnDisk) {
  const testing::TempDir folder;
  const auto fine = on_grid(testing::tiny_student(), 32);
  save_model(folder / "model", fine);
  const auto loaded = load_model(folder / "model");
  EXPECT_EQ(loaded.pde->grid(), 32);
  EXPECT_TRUE(loaded.latents(3, Stream::latents, 0, 1).equal(fine.latents(3, Stream::latents, 0, 1)));
}

TEST(OnGrid, ARectangleIsCarriedOverAndKeptToo) {
  const testing::TempDir folder;
  const auto wide = on_grid(testing::tiny_student(), {24, 40});
  const auto e = wide.latents(3, Stream::latents, 0, 1);
  EXPECT_EQ(e.size(3), testing::kTinyGrid);
  EXPECT_EQ(Student(wide)(e).sizes(), (std::vector<int64_t>{1, 2, 24, 40}));
  const auto narrow = on_grid(wide, {40, 24});
  save_model(folder / "model", narrow);
  const auto loaded = load_model(folder / "model");
  EXPECT_EQ(loaded.pde->grid(), GridSize(40, 24));
  EXPECT_TRUE(Student(loaded)(e).equal(Student(narrow)(e)));
}

TEST(OnGrid, RefusesWhatCannotBeCarriedOver) {
  EXPECT_ERROR(on_grid(testing::tiny_teacher(), 32), ExitCode::usage, "only a student");
  EXPECT_ERROR(on_grid(testing::tiny_student(), 8), ExitCode::usage, "grid");
  auto model = testing::tiny_student(HeadOptions{});
  model.network = make_network("unet", {{"width", 4}, {"multipliers", {1}}, {"attention", 0}}, 1);
  EXPECT_ERROR(on_grid(model, 32), ExitCode::usage, "'unet' is bound to the grid it was trained on, 16");
  model.network = make_network("ffno", {{"modes", {20, 4}}, {"width", 4}}, 1);
  EXPECT_ERROR(on_grid(model, 32), ExitCode::usage, "do not hold its 20 Fourier modes");
  EXPECT_ERROR(on_grid(model, 18), ExitCode::usage, "at least 21 points");
}

class ModeNetworks : public ::testing::TestWithParam<std::string> {
 protected:
  /// Relative distance of the samples on twice the grid, averaged over 2x2 cells, from those on the grid.
  double distance(int64_t n, bool white) const {
    const torch::NoGradGuard no_grad;
    const auto coarse = on_grid(model, n), fine = on_grid(model, 2 * n);
    const auto e = model.latents(3, Stream::latents, 0, 4);
    const auto y = Student(fine)(white ? normal(3, Stream::latents, 0, 4, {2, 2 * n, 2 * n}) : e);
    return relative_error(torch::avg_pool2d(y, 2), Student(coarse)(e));
  }

  Model model = [] {
    auto student = testing::tiny_student();
    json options = {{"modes", {4, 4}}, {"width", 8}, {"layers", 3}, {"time_features", 8}};
    student.network = make_network(GetParam(), options, 3);
    return student;
  }();
};

TEST_P(ModeNetworks, BandLimitedStudentGivesTheSameSamplesOnTwiceTheGrid) {
  const double coarse = distance(16, false),
               fine = distance(32, false);  // first order: a latent's Nyquist share and cell means
  EXPECT_LT(coarse, 0.2);
  EXPECT_LT(fine, 0.6 * coarse);
  EXPECT_GT(distance(16, true), 0.5);  // white noise of the fine grid is another latent
}

// The modes both grids have, of samples of one seed, at 32 and 64 points.
TEST_P(ModeNetworks, SharedModesOfASeedAgree) {
  const torch::NoGradGuard no_grad;
  const auto sample = [&](int64_t n) {
    const auto there = on_grid(model, n);
    return Student(there)(there.latents(3, Stream::latents, 0, 4)).to(torch::kFloat64);
  };
  const auto low = [](const Tensor& x) { return resample(x, 16); };
  EXPECT_LT(relative_error(low(sample(64)), low(sample(32))), 0.1);
  EXPECT_LT(relative_error(low(sample(128)), low(sample(64))), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Types, ModeNetworks, ::testing::Values("fno", "ffno"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace piddm
