// The whole way of a PDE with several equations and solution channels: data, teacher, distilled student, exact decode,
// judgement, tasks, report.

#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"
#include "piddm/tables/demo/demo.h"
#include "tests/flux_darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

DemoOptions tiny_demo() {
  DemoOptions options;
  read_fields(parse_toml(R"(
held_out = 8
samples = 8
cases = 2
[experiment]
pde = { name = "flux-darcy", grid = 16 }
data = { n = 16 }
model = { type = "fno", width = 4, modes = [4, 4], layers = 2, lifting = 8, projection = 8 }
train = { steps = 20, batch = 4 }
solve = { task = { iterations = 3 } }
[experiment.distill]
heads = { smooth = true, bounded = true, constrained = true }
loss = { lambda = 1.0, error = 0.1, boundary = 0.1 }
pairs = { steps = 4, chunk = 8, every = 5, held_out = 4 }
train = { steps = 10, batch = 4, validate_every = 4 }
)",
                         "tiny"),
              options);
  return options;
}

TEST(SeveralEquations, GoTheWholeWay) {
  testing::register_flux_darcy();
  const testing::TempDir folder;
  const auto report = run_demo(tiny_demo(), folder.path(), torch::kCPU);
  const auto j = to_json(report);
  const std::vector<std::string> parts = {"pde_error_flux_x",    "pde_error_flux_y",  "pde_error_mass",
                                          "rel_residual_flux_x", "rel_residual_mass", "solution_error_p",
                                          "solution_error_qx",   "solution_error_qy"};
  for (const auto& rows : {j.at("methods"), j.at("tasks")})
    for (const auto& [name, row] : rows.items()) {
      for (const auto& key : parts) EXPECT_TRUE(row.contains(key)) << name << " " << key;
      const auto value = [&](const char* key) { return row.at(key).template get<double>(); };
      const double mean = (value("pde_error_flux_x") + value("pde_error_flux_y") + value("pde_error_mass")) / 3;
      EXPECT_NEAR(value("pde_error"), mean, 1e-9 * mean) << name;
    }
  const auto decoded = j.at("methods").at("piddm-1-decoded");
  for (const char* key : {"pde_error_flux_x", "pde_error_mass", "solution_error_p", "solution_error_qx"}) {
    EXPECT_LT(decoded.at(key).get<double>(), 1e-12) << key;
    EXPECT_GT(j.at("methods").at("piddm-1").at(key).get<double>(), 1e-6) << key;
  }
  for (const char* task : {"forward", "inverse", "reconstruct"})
    for (const char* channel : {"p", "qx", "qy", "a"})
      EXPECT_TRUE(j.at("tasks").at(task).contains(std::string("mse_") + channel)) << task << channel;
  EXPECT_EQ(j.at("pde").at("residual_scale").at("mass").get<double>(), 1.0 / 16);
  const auto text = testing::read_text(folder / "report.md");
  for (const char* part : {"pde_error_mass", "solution_error_qx", "0.0625 (mass)"})
    EXPECT_THAT(text, ::testing::HasSubstr(part));
}

}  // namespace
}  // namespace piddm
