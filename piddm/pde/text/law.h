#pragma once
// Coefficients of a PDE by text, drawn from the laws that it states (language/pde_text.h). Each has random numbers of
// its own; those of the first are the ones a built-in PDE takes for the same seed and sample.

#include <optional>
#include <vector>

#include "piddm/numerics/random_fields/gaussian_series.h"
#include "piddm/pde/text/text_grid.h"

namespace piddm {

class TextLaw {
 public:
  /// Parameters of the grid's text have been replaced by numbers.
  explicit TextLaw(const TextGrid& grid);

  /// Whether every coefficient has a law; there may be none at all.
  bool complete() const;

  /// [count,C_a,X,Y] float64 on the CPU in the order of the text, scalars constant. A pure function of (seed, index):
  /// the same bits for any batch split and number of threads. A UsageError where a coefficient comes from data.
  Tensor sample(uint64_t seed, int64_t first, int64_t count) const;

 private:
  Tensor draw(size_t which, uint64_t seed, int64_t first, int64_t count) const;

  TextGrid grid_;
  std::vector<std::optional<GaussianSeries>> series_;  // of fields
};

}  // namespace piddm
