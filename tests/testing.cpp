#include "tests/testing.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "piddm/core/device.h"

namespace piddm::testing {

namespace fs = std::filesystem;

TempDir::TempDir() {
  static std::atomic<int> counter = 0;
  path_ = fs::temp_directory_path() / fmt::format("piddm-test-{}-{}", ::getpid(), counter++);
  fs::create_directories(path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path golden(const std::string& name) { return fs::path(PIDDM_TEST_DATA) / name; }

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << "cannot open " << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

double relative_error(const Tensor& a, const Tensor& b) {
  const auto reference = b.to(torch::kFloat64);
  return ((a.to(torch::kFloat64) - reference).norm() / reference.norm()).item<double>();
}

double gradient_error(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, int probes, double step) {
  const auto leaf = x.detach().clone().requires_grad_(true);
  const auto gradient = torch::autograd::grad({f(leaf)}, {leaf})[0];
  const double size =
      gradient.norm().item<double>();  // of a slope in a random direction, which itself may happen to be zero
  double worst = 0;
  for (int i = 0; i < probes; ++i) {
    const auto direction = torch::randn_like(x);
    const auto plus = f(x.detach() + step * direction), minus = f(x.detach() - step * direction);
    const double numeric = ((plus - minus) / (2 * step)).item<double>();
    const double exact = (gradient * direction).sum().item<double>();
    worst = std::max(worst, std::abs(numeric - exact) / std::max({1e-12, size, std::abs(exact)}));
  }
  return worst;
}

}  // namespace piddm::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  // Tests are small: waiting for a second thread costs more than it gives, and a busy machine makes it much worse.
  piddm::set_threads(1);
  torch::manual_seed(0);
  return RUN_ALL_TESTS();
}
