// A PDE of one's own through everything piddm does:
//
//   cmake --install build --prefix PREFIX
//   cmake -S examples/own-pde -B own -DCMAKE_PREFIX_PATH=PREFIX && cmake --build own
//   own/own-pde examples/own-pde/experiment.toml own/run
//
// Registers the heated ring (heated_ring.h), generates data and checks them, trains a teacher, distils a one-step
// student, and asks the student the inverse question: which source q(x) belongs to this u(x,t)? The run folder gets
// data.npz, teacher/, student/, inverse.npz and inverse.png. What it prints is for reading; it fails where the data are
// not solutions or the answers are no better than guessing.

#include <fmt/format.h>
#include <piddm/data/check/data_check.h>
#include <piddm/experiment/experiment.h>
#include <piddm/plot/field_plots.h>
#include <piddm/plot/picture_file.h>
#include <piddm/solve/methods/registry.h>

#include <filesystem>

#include "heated_ring.h"

using namespace piddm;

namespace {

constexpr int64_t kCases = 4;

int run(const std::filesystem::path& config, const std::filesystem::path& out) {
  pde_registry().add(
      {"heated-ring", "a ring heated by q(x), u_t = nu u_xx - k u + q, u(x,0) = 0", make_registered_pde<HeatedRing>});
  const auto experiment = load_experiment(config.string(), {});
  const auto pde = make_pde(experiment.pde);

  const auto data = training_data(experiment);
  std::filesystem::create_directories(out);
  save_dataset(out / "data.npz", data);
  const auto report = check_dataset(data, *pde);
  fmt::print("data: {} samples on {} points\n\n{}\n", data.size(), pde->grid().text(), report.text());
  if (!report.pass()) return 1;

  const auto teacher = train_teacher(experiment, data, out / "teacher", torch::kCPU, false);
  const auto student = distill_student(experiment, teacher, out / "student", out / "pairs", false);
  fmt::print("teacher and student: {} and {}\n", (out / "teacher").string(), (out / "student").string());

  const auto truth = make_dataset(*pde, 0, kHeldOutFirst, kCases).fields;
  const auto method = make_method(default_method(student), Task::inverse, student, json::object());
  const auto solved = method->solve(observe(Task::inverse, truth, *pde, 0), 0);
  const auto error = (pde->coefficients(solved.x) - pde->coefficients(truth)).square().mean({1, 2, 3}).sqrt();
  const auto spread = pde->coefficients(data.fields).std().item<double>();
  for (int64_t i = 0; i < kCases; ++i)
    fmt::print("inverse, case {}: RMS error of q {:.3f}, of a guess of 0 {:.3f}\n", i, error[i].item<double>(), spread);

  const Dataset answers{data.description, data.channels, solved.x};
  save_dataset(out / "inverse.npz", answers);
  const auto figure = draw_samples(answers, pde, {0, 1}, "Heated ring: q found for a known u", true);
  fmt::print("picture: {}\n", write_picture(figure, out / "inverse.png").string());
  return error.mean().item<double>() < spread ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: own-pde EXPERIMENT.toml OUT\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "own-pde: {}\n", error.what());
    return 1;
  }
}
