#pragma once
// What a PDE is to the rest of the library: channels, a law of its coefficients, a reference solve, a residual, a hard
// constraint, an exact decode.
//
// Fields are [B,C,H,W] in physical units, solution channels first, then coefficients. Residuals are differentiable in
// the dtype they are given; solvers and decodes compute in float64 whatever they are given.

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
#include "piddm/numerics/grid_size.h"
#include "piddm/pde/grid_axis.h"

namespace piddm {

class Pde;
using PdePtr = std::shared_ptr<const Pde>;
struct PdeOptions;
PdePtr make_pde(const PdeOptions& options);

enum class Role { solution, coefficient };

/// Where a channel is zero in every sample: nowhere that is known, on the wall half a cell outside the grid, on the
/// outer ring of nodes.
enum class ZeroOn { nothing, wall, ring };

struct Channel {
  std::string name;  ///< also its key in data files: "u", "a"
  Role role = Role::solution;
  bool scalar = false;  ///< one number per sample, stored as a constant field; its spatial mean is what counts
  std::optional<std::pair<double, double>> two_valued = {};  ///< the two values of a coefficient that has only two
  ZeroOn zero_on = ZeroOn::nothing;
  std::optional<std::pair<double, double>> valid = {};  ///< where the equation makes sense; a decode moves the
                                                        ///< coefficient into it
  bool given_in_inverse = false;                        ///< a coefficient that is known in the task inverse too
  std::string unit = {};                                ///< of its values; empty: dimensionless
  std::string title = {};                               ///< in words, for pictures: "concentration"

  /// "u", or "u, concentration" with a title.
  std::string label() const;
};

/// One equation of a PDE. Its residual is a field of its own.
struct Equation {
  double scale = 1;       ///< c of R = c r_phys, the unit in which lambda, eta and pde_error are quoted
  std::string name = {};  ///< in the names of its metrics, pde_error_NAME; a PDE of one equation needs none
};

/// What one equation leaves at its scored points, [B,1,h,w]; h and w may differ from those of other equations.
struct ResidualField {
  Tensor interior;        ///< r_phys
  Tensor reference = {};  ///< the term of the equation that rel_residual is measured against
  Tensor smooth = {};     ///< bool, points that count in rel_residual (away from fronts); undefined: all
  int64_t pictures = 1;   ///< side by side along w: of a problem in x, y and t one for each step
};

struct Residual {
  std::vector<ResidualField> fields;  ///< as Pde::equations() lists them
  Tensor boundary = {};  ///< [B,m], violation of boundary and initial conditions in units of the first solution
                         ///< channel; undefined where the boundary rule is part of the stencil
};

struct SolveReport {
  int64_t iterations = 0;          ///< of the slowest sample
  double relative_residual = 0;    ///< ||b - A u|| / ||b||, worst sample
  std::vector<int64_t> each = {};  ///< iterations of each sample, where the solver counts them
};

/// Coefficients moved to where the equation makes sense.
struct Admissible {
  Tensor coefficients;  ///< [B,C_a,H,W] float64
  Tensor clamped;       ///< [B] int64, how many entries (a scalar channel: one) had to be moved into the valid range
};

/// A sample whose solution satisfies the discrete equation for the sample's own coefficients.
struct Decoded {
  Tensor x;           ///< [B,C,H,W] float64
  Tensor iterations;  ///< [B] int64, solver iterations of each sample; 0 for direct solvers and closed forms
  Tensor moved;       ///< [B] RMS change of a solution channel over its RMS when decoded; of several their RMS
  Tensor clamped;     ///< [B] int64, as in Admissible
};

constexpr int64_t kSmallestGrid = 16, kLargestGrid = 1024;

/// The text of a PDE that is not in the registry: the table of its file (language/pde_text.h). Travels with models,
/// data and configs, so that the file is needed once.
struct PdeDefinition {
  json table = json::object();

  bool absent() const { return table.empty(); }
  json to_json() const { return table; }
  static PdeDefinition from_json(const json& j, const std::string& path);
};

struct PdeOptions {
  std::string name = "darcy";
  GridSize grid = 128;
  json parameters = json::object();
  PdeDefinition definition = {};
  template <class V>
  void fields(V&& f) {
    f("name", name, "which PDE; see `piddm list pdes`");
    f("grid", grid, between(kSmallestGrid, kLargestGrid), "points per side: 64, or [64, 32] along x and y (or t)");
    f("parameters", parameters, "constants of the equation that differ from the PDE's defaults, e.g. {k = 2.0}");
    f("definition", definition, "the equation itself, where it is none of the registry (docs/own-pde.md)");
  }
};

/// A constant of the equation, or a choice between forms of its residual.
struct Parameter {
  std::string name;
  json value;  ///< a number or one of `choices`
  std::string meaning;
  std::vector<std::string> choices = {};  ///< empty: a number
  double low = 0, high = 0;               ///< of a number
  bool length = false;                    ///< of the domain; these come last
  bool usual = false;                     ///< a length that has its default: goes without saying in data files
};

class Pde {
 public:
  explicit Pde(PdeOptions options) : options_(std::move(options)) {}
  virtual ~Pde() = default;

  const PdeOptions& options() const { return options_; }
  const std::string& name() const { return options_.name; }
  const GridSize& grid() const { return options_.grid; }

  /// Every parameter with the value in force.
  const std::vector<Parameter>& parameters() const { return parameters_; }

  virtual const std::vector<Channel>& channels() const = 0;

  /// x along H; y, or t of a problem in time, along W.
  virtual GridAxes axes() const = 0;

  /// What it is, in one line: its entry in the registry, or its equation.
  virtual std::string summary() const;

  /// Whether coefficients can be drawn; those of a text may come from the user's data alone.
  virtual bool has_law() const { return true; }

  /// Coefficients of samples first..first+count-1: [count, C_a, H, W] float64 on the CPU, a pure function of (seed,
  /// index): the same bits for any batch split and number of threads. A UsageError without a law.
  virtual Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const = 0;

  /// The reference solution for these coefficients, [B, C_u, H, W] float64 on their device. `start` (optional) is a
  /// first guess. On the CPU the same bits for any batch split and number of threads.
  virtual Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const = 0;

  /// At least one; several have different names.
  virtual std::vector<Equation> equations() const = 0;

  /// r_phys of x = [B,C,H,W].
  virtual Residual residual(const Tensor& x) const = 0;

  /// The hard constraint imposed when nothing is observed (ECI's C): the field adjusted to it.
  virtual Tensor constrain(const Tensor& x) const = 0;

  /// Entries of the solution channels that boundary and initial conditions give away once the coefficients are known:
  /// [C_u,H,W] bool. The task forward knows them. Default: none.
  virtual Tensor given_boundary() const;

  /// L^-1 r_phys, L a fast solver close to the PDE's operator in all its equations: roughly the error of the solution
  /// channels that this residual stands for, [B,C_u,h,w]. Needs Residual::fields[].interior alone. Linear and
  /// differentiable; of one equation also symmetric, with [h,w] the scored points. A UsageError where a PDE has none.
  virtual Tensor precondition(const Residual& r) const;
  virtual bool has_preconditioner() const { return false; }

  /// x = [B,C,H,W] with its solution moved towards that of its own coefficients by `iterations` >= 1 of conjugate
  /// gradients, or by a direct solver, which needs one: a decode that stops early. In the dtype of x, differentiable, a
  /// fixed number of operations without a word to the host. A UsageError where a PDE has no solver that is fast enough.
  virtual Tensor correct(const Tensor& x, int64_t iterations) const;
  virtual bool has_corrector() const { return false; }

  /// Coefficients [B,C_a,H,W] as the solver takes them. Default: scalar channels replaced by their spatial mean, then
  /// everything clamped to the channel's valid range.
  virtual Admissible admissible(const Tensor& coefficients) const;

  /// Solution replaced by the solution for the sample's own (admissible) coefficients.
  virtual Decoded decode(const Tensor& x) const;

  // --- the same for every PDE, built from the above ---
  int64_t num_channels() const { return static_cast<int64_t>(channels().size()); }
  int64_t num_solution_channels() const;
  std::vector<std::string> channel_names() const;

  /// {C, H, W}.
  std::vector<int64_t> sample_shape() const;

  /// What metrics are split by: names of the solution channels or of the equations where there are several, else none.
  std::vector<std::string> several_solutions() const;
  std::vector<std::string> several_equations() const;

  /// Solution and coefficient channels of x = [B,C,H,W].
  Tensor solution(const Tensor& x) const;
  Tensor coefficients(const Tensor& x) const;

  /// x = (u, a) for samples first..first+count-1: [count,C,H,W] float64, solved on `device`.
  Tensor sample(uint64_t seed, int64_t first, int64_t count, SolveReport* report = nullptr,
                torch::Device device = torch::kCPU) const;

  /// Mean over the scored points of R^2, one number per sample: [B] for each equation.
  std::vector<Tensor> equation_errors(const Residual& r) const;

  /// The mean of these over the equations, [B]. This is ||R||^2 in every loss. A mean, not a sum: lambda keeps its
  /// meaning when an equation is split in two, and one with more points counts no more than another.
  Tensor pde_error(const Tensor& x) const;

  /// DataError unless x is [B,C,H,W] of this grid: "[darcy] expected (B,2,64,32), got (8,3,64,64)".
  void check_shape(const Tensor& x) const;

 protected:
  /// For constructors: declares a number (or a choice) and returns its value in force; a UsageError outside [low,high].
  double parameter(const std::string& name, double value, double low, double high, const std::string& meaning);
  /// The length of the domain along an axis, "length_x", "length_y" or "duration": a parameter like the others.
  double length(const std::string& name, double value = 1);
  std::string choice(const std::string& name, const std::vector<std::string>& choices, const std::string& meaning);

  /// DataError unless coefficients are [B,C_a,H,W] of this grid, finite, B > 0; returns them detached in float64.
  Tensor checked_coefficients(const Tensor& coefficients) const;

  /// DataError unless x has the right shape, NumericsError unless it is finite; returns it in float64: the first line
  /// of every decode.
  Tensor checked_to_decode(const Tensor& x) const;

  /// The sample y with the solution u for the admissible coefficients a.
  Decoded decoded(const Tensor& y, const Admissible& a, const Tensor& u, const Tensor& iterations) const;

  /// DataError unless x is float32 or float64 of the right shape: the first line of every residual.
  void check_residual_input(const Tensor& x) const;

 private:
  friend PdePtr make_pde(const PdeOptions& options);
  void declare(Parameter parameter);
  void check_parameters() const;
  void check_equations() const;

  PdeOptions options_;
  std::vector<Parameter> parameters_;
};

/// The mean of tensors of one shape; of a single one: itself, without a copy.
Tensor mean_of(const std::vector<Tensor>& tensors);

/// Whether W is time.
bool has_time_axis(const Pde& pde);

/// Every PDE that make_pde knows. A program adds PDEs of its own before it uses them, from one thread:
///
///   pde_registry().add({"mypde", "what it describes, in one line", make_registered_pde<MyPde>});
Registry<PdePtr(const PdeOptions&)>& pde_registry();

/// The factory of a class with a constructor from PdeOptions.
template <class T>
PdePtr make_registered_pde(const PdeOptions& options) {
  return std::make_shared<T>(options);
}

/// A UsageError for an unknown name or parameter (with the nearest right one) or a grid out of bounds.
PdePtr make_pde(const PdeOptions& options);

/// This PDE with one parameter changed.
PdePtr with_parameter(const Pde& pde, const std::string& name, const json& value);

}  // namespace piddm
