#pragma once
// Other discrete forms of a PDE's equation that people use for their data. `data check` tries them where data miss the
// residual of the PDE itself. A PDE that knows such forms derives from OtherForms too; they stand with the PDE. Of
// every PDE by text: the other mean of coefficients on faces, and spectral derivatives in place of compact ones or the
// reverse.

#include <functional>
#include <string>
#include <vector>

#include "piddm/pde/pde.h"

namespace piddm {

struct OtherForm {
  std::string name;                                   ///< short: "harmonic"
  std::string meaning;                                ///< in words, completing "the data satisfy the equation with ..."
  std::function<Residual(const Tensor& x)> residual;  ///< as Pde::residual; the PDE must outlive it
  std::string advice = {};                            ///< how to say so, in the imperative; empty: it cannot be said
};

class OtherForms {
 public:
  virtual ~OtherForms() = default;
  virtual std::vector<OtherForm> other_forms() const = 0;
};

/// Those of this PDE; none where it knows none.
std::vector<OtherForm> other_forms(const Pde& pde);

}  // namespace piddm
