#pragma once
// Is a data set what it says it is? Recomputed from the values themselves, in float64.

#include "piddm/data/check/check_report.h"
#include "piddm/data/dataset.h"
#include "piddm/pde/constraint.h"

namespace piddm {

struct CheckOptions {
  bool all = false;                 ///< re-solve every sample, however long it takes
  double seconds = 30;              ///< what re-solving may take otherwise
  double tolerance = 1e-4;          ///< largest distance of u from u*(a), relative
  bool explain = true;              ///< look for what makes samples miss the equation (diagnosis.h)
  ConstraintPtr constraint = {};    ///< a condition of the user's that all samples must satisfy
  std::filesystem::path file = {};  ///< where the data came from: its SHA-256 is compared with the one kept beside it
  std::string pde = {};             ///< as the user named it, for advice; empty: the data say it themselves
};

/// The checks, in this order:
///
///   SHA-256                       0 where FILE.sha256 agrees with the file
///   non-finite values             0; with any, the rest is not computed
///   values of a channel           0 samples with other values in a two-valued channel, a scalar that varies, or
///                                 coefficients that the solver would have to change
///   coefficients of the seed      0 samples that are not what the declared (seed, first) draws
///   law                           |z| <= 5 of per-sample mean and mean square of each coefficient against fresh draws;
///                                 no limit below 16 samples or where the file declares no law
///   pde_error, rel_residual, boundary error   of all samples; 2 times (as RMS) the floor of the re-solved ones; of
///                                             several equations also each one's
///   worst sample's residual, boundary error, hard constraint   2 times (as RMS) those of u*(a)
///   worst sample's distance to u*(a)          `tolerance`; at one point 10 times that (u*(a): the solution for the
///                                             sample's own coefficients)
///   parameters                    fitted from the residual: within 5 standard errors and 0.1 % of the declared value
///   given constraint              RMS violation over the RMS of the channel, at most 1e-5
///
/// Where samples are no solutions of the PDE, the report says why if that can be told.
///
/// Re-solved are all samples if that takes less than `seconds`, else the first 64 and those that stand out most in
/// residual, largest residual at a point, boundary error and hard constraint, 16 each.
CheckReport check_dataset(const Dataset& dataset, const Pde& pde, const CheckOptions& options = {});

}  // namespace piddm
