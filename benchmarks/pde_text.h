#pragma once
// piddm bench pde: residuals of PDEs by text against those of the library's own classes, which take turns in one run.
// On the CPU by processor time on one core.

#include <array>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/core/tensor.h"
#include "piddm/numerics/grid_size.h"

namespace piddm::bench {

struct PdeTextOptions {
  std::vector<std::string> pdes = {};  ///< of benchmarks/builtin_texts.h; empty: all
  std::vector<GridSize> grids = {64};
  int64_t n = 16;       ///< samples, one batch
  int64_t repeats = 9;  ///< turns, of which the median counts
  torch::Device device = torch::kCPU;
  uint64_t seed = 0;
};

/// Milliseconds of a batch.
struct PdeTextTime {
  double text_ms = 0, library_ms = 0;

  double ratio() const { return text_ms / library_ms; }
};

struct PdeTextRow {
  std::string pde;
  GridSize grid = 64;
  PdeTextTime forward = {}, gradient = {};  ///< `gradient`: the residual and the gradient of its square, float32
};

struct PdeTextResult {
  PdeTextOptions options;
  std::vector<PdeTextRow> rows;
};

/// Most times the library's own that a residual by text may take.
constexpr double kMostTimes = 2;

PdeTextResult bench_pde_text(PdeTextOptions options);

json pde_text_json(const PdeTextResult& result);
std::string pde_text_report(const PdeTextResult& result);  ///< a table for people

}  // namespace piddm::bench
