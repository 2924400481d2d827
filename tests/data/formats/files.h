#pragma once
// The files of tests/golden/make_data_files.py, and the child program.

#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "piddm/data/formats/array_file.h"
#include "piddm/data/formats/hdf5_process.h"
#include "tests/files/formats.h"

namespace piddm::testing {

inline std::filesystem::path data_file(const std::string& name) { return golden("data_files/" + name); }

/// field() of the script, float64.
inline Tensor field(double k, const std::vector<int64_t>& shape) {
  static constexpr double kSteps[] = {1.7, 0.3, -0.11, 0.05, -0.02};
  auto x = torch::full(shape, k, torch::kFloat64);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> view(shape.size(), 1);
    view[axis] = -1;
    x = x + kSteps[axis] * torch::arange(shape[axis], torch::kFloat64).view(view);
  }
  return x.sin();
}

inline void expect_near(const Tensor& got, const Tensor& expected, double tolerance = 1e-12) {
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_LE((got.to(torch::kFloat64) - expected).abs().max().item<double>(), tolerance);
}

/// Tells the library where the child is; the test is skipped where the build has none.
#ifdef PIDDM_HDF5_PROGRAM
#define NEED_HDF5() ::setenv("PIDDM_HDF5_CHILD", PIDDM_HDF5_PROGRAM, 1)
#else
#define NEED_HDF5() GTEST_SKIP() << "built without libhdf5"
#endif

}  // namespace piddm::testing
