// Models that version 0.1.0 trained (tests/golden/make_models.sh) load and give what they gave then. On one machine
// that is to the bit; kernels for other processors sum in another order, so the bound here is that of float32 sums.

#include "piddm/data/dataset.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/task/observation_file.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(PIDDM_TEST_DATA) / "models";
constexpr double kFloatSums = 1e-4;

double largest_difference(const Tensor& x, const fs::path& file) {
  const auto then = load_dataset(file).fields.to(torch::kFloat64);
  return ((x.to(torch::kFloat64) - then).abs().max() / then.abs().max()).item<double>();
}

TEST(EarlierModels, GenerateTheirSamples) {
  for (const char* name : {"teacher", "student"}) {
    const auto model = load_model(kModels / name);
    const auto method = make_method(default_method(model), Task::generate, model, json::object());
    EXPECT_LE(largest_difference(method->generate(0, 2, 0).x, kModels / name / "samples.npz"), kFloatSums) << name;
  }
}

TEST(EarlierModels, SolveWithTheOptionsTheyWereStoredWith) {
  const auto model = load_model(kModels / "student");
  const auto file = read_observation((kModels / "truth.npz").string(), Task::inverse, *model.pde, 0, {}, 0);
  const auto name = default_method(model);
  const auto method = make_method(name, Task::inverse, model, default_options(name, model));
  const auto x = method->solve(file.observation, 0).x;
  EXPECT_LE(largest_difference(x, kModels / "student" / "inverse.npz"), 100 * kFloatSums);  // 80 steps amplify it
}

}  // namespace
}  // namespace piddm
