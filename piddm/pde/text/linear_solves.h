#pragma once
// Linear systems of a Newton iteration: the entries of each sample's Jacobian, kept until they are renewed.

#include <functional>

#include "piddm/pde/text/solver.h"

namespace piddm {

class TextLinearSolves {
 public:
  TextLinearSolves(const TextSolver& solver, int64_t samples, torch::Device device);

  /// New entries [B,P,F,X,Y] for the samples in `which`.
  void renew(const Tensor& entries, const std::vector<bool>& which);

  /// Without a table of entries (spectral derivatives on two axes): J v of the present state.
  void renew(const LinearMap& product);

  /// x of J x = b, [B,F,X,Y]; a sample may miss the tolerance only where nothing better can be had.
  Tensor solve(const Tensor& b);

  /// Whether the sparse LU of a sample's matrix failed: its x is not a number.
  bool singular(size_t sample) const { return singular_[sample]; }

 private:
  Tensor direct(const Tensor& b);
  Tensor iterative(const Tensor& b);
  void factorise(size_t sample);
  Tensor by_factors(size_t sample, const Tensor& b) const;
  void prepare_preconditioner();
  Tensor precondition(const Tensor& r) const;

  const TextSolver& solver_;
  const StencilPattern& pattern_;
  bool direct_;
  Tensor entries_;
  LinearMap product_;
  std::vector<std::unique_ptr<SparseLu>> factors_;
  std::vector<bool> singular_;
  std::vector<Tensor> inverse_eigenvalues_;  // of each field
  bool symmetric_ = false;
  double sign_ = 1;
};

}  // namespace piddm
