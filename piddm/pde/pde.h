#pragma once
// What a PDE is to the rest of the library: channels, a law of its coefficients, a reference solve, a residual, a hard constraint, an exact decode.
//
// Fields are [B,C,H,W] in physical units, solution channels first, then coefficients. Residuals are differentiable in the dtype they are given;
// solvers and decodes compute in float64 whatever they are given.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/core/registry.h"
#include "piddm/core/rng.h"
#include "piddm/core/tensor.h"

namespace piddm {

enum class Role { solution, coefficient };

struct Channel {
  std::string name;  ///< also its key in data files: "u", "a"
  Role role = Role::solution;
  bool scalar = false;                                  ///< one number a sample, stored as a constant field
  std::optional<std::pair<double, double>> two_valued;  ///< the two values of a coefficient that has only two
  bool zero_on_wall = false;                            ///< vanishes on the wall of the cell-centred grid
};

/// r_phys at the scored points, [B,1,h,w]; `boundary` is undefined for PDEs whose boundary rule is part of the stencil.
struct Residual {
  Tensor interior;
  Tensor boundary;
};

struct SolveReport {
  int64_t iterations = 0;        ///< of the slowest sample
  double relative_residual = 0;  ///< ||b - A u|| / ||b||, worst sample
};

/// A sample whose solution satisfies the discrete equation for the sample's own coefficients.
struct Decoded {
  Tensor x;           ///< [B,C,H,W] float64
  Tensor iterations;  ///< [B] int64, solver iterations of each sample
  Tensor moved;       ///< [B] RMS change of the solution channels over the RMS of the decoded ones
  Tensor
      clamped;  ///< [B] int64, coefficient entries that had to be moved into the range where the equation makes sense
};

struct PdeOptions {
  std::string name = "darcy";
  int64_t grid = 128;
  template <class V>
  void fields(V&& f) {
    f("name", name, "which PDE; see `piddm list pdes`");
    f("grid", grid, "points a side");
  }
};

class Pde {
 public:
  explicit Pde(PdeOptions options) : options_(std::move(options)) {}
  virtual ~Pde() = default;

  const PdeOptions& options() const { return options_; }
  const std::string& name() const { return options_.name; }
  int64_t grid() const { return options_.grid; }

  virtual const std::vector<Channel>& channels() const = 0;

  /// Coefficients of samples first..first+count-1: [count, C_a, H, W] float64, a pure function of (seed, index).
  virtual Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const = 0;

  /// The reference solution for these coefficients, [B, C_u, H, W] float64. `start` (optional) is a first guess.
  virtual Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const = 0;

  /// r_phys of x = [B,C,H,W].
  virtual Residual residual(const Tensor& x) const = 0;

  /// c of R = c r_phys, the unit in which lambda, eta and pde_error are quoted.
  virtual double residual_scale() const = 0;

  /// The term rel_residual is measured against, at the scored points.
  virtual Tensor reference_term(const Tensor& x) const = 0;

  /// The hard constraint imposed when nothing is observed (ECI's C): the field adjusted to it.
  virtual Tensor constrain(const Tensor& x) const = 0;

  /// L^-1 r_phys, L a fast solver close to the PDE's operator: roughly the error of the solution this residual stands for. Differentiable.
  /// A UsageError where a PDE has none.
  virtual Tensor precondition(const Tensor& r) const;

  /// Solution replaced by the solution for the sample's own coefficients, starting from the sample's own solution.
  virtual Decoded decode(const Tensor& x) const = 0;

  // --- the same for every PDE, built from the above ---
  int64_t num_channels() const { return static_cast<int64_t>(channels().size()); }
  int64_t num_solution_channels() const;
  std::vector<std::string> channel_names() const;

  /// x = (u, a) for samples first..first+count-1: [count,C,H,W] float64.
  Tensor sample(uint64_t seed, int64_t first, int64_t count, SolveReport* report = nullptr) const;

  /// Mean over the scored points of R^2, one number a sample: [B]. This is ||R||^2 in every loss.
  Tensor pde_error(const Tensor& x) const;

  /// DataError unless x is [B,C,grid,grid]: "[darcy] expected (B,2,32,32), got (8,3,64,64)".
  void check_shape(const Tensor& x) const;

 private:
  PdeOptions options_;
};

using PdePtr = std::shared_ptr<const Pde>;

const Registry<PdePtr(const PdeOptions&)>& pde_registry();
PdePtr make_pde(const PdeOptions& options);

}  // namespace piddm
