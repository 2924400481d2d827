#pragma once
// piddm bench corrector: what the iterations of a student's corrector head bring and cost (Darcy). Start: true
// coefficients with a true u that keeps its lowest sine modes, a quarter along each axis: about what a network with as
// many modes can have.

#include "piddm/core/fields.h"
#include "piddm/core/tensor.h"
#include "piddm/numerics/grid_size.h"

namespace piddm::bench {

struct CorrectorOptions {
  std::vector<GridSize> grids = {32, 128};
  std::vector<int64_t> iterations = {0, 2, 5, 10};
  int64_t n = 32;       ///< samples, one batch
  int64_t repeats = 5;  ///< turns, of which the median counts
  torch::Device device = torch::kCPU;
  uint64_t seed = 0;
};

/// Milliseconds per sample of the form the head takes and of the composed one, which a GPU takes too.
struct CorrectorTime {
  double ours_ms = 0, composed_ms = 0;
};

struct CorrectorRow {
  GridSize grid = 32;
  int64_t iterations = 0;
  double rel_residual = 0, pde_error = 0;     ///< RMS of r over the samples, and the mean of R^2; float32
  double error_of_u = 0;                      ///< mean of (u - u*(a))^2 over the variance of u*
  CorrectorTime forward = {}, gradient = {};  ///< `gradient`: value and gradient of u and a
};

struct CorrectorResult {
  CorrectorOptions options;
  std::vector<CorrectorRow> rows;
};

CorrectorResult bench_corrector(const CorrectorOptions& options);

json corrector_json(const CorrectorResult& result);
std::string corrector_report(const CorrectorResult& result);  ///< a table for people

}  // namespace piddm::bench
