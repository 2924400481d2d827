#pragma once
// An observation as methods work with it: in network units, on the model's device, with weights for noisy values.
//
//   misfit  1/n sum_i w_i (z_i - z'_i)^2 over the n known entries and functionals of a sample
//   w_i     1 where all values of a sample are exact; else tau^2 / (s0^2 + sigma_i^2), sigma in network units
//
// so a sample with noise has the misfit chi^2 tau^2 / n, chi^2 in units of each value's sigma, and larger sigmas leave
// more to the physics and to the prior. s0 = 0.01 is what exact values among noisy ones, and the fit of any value, are
// trusted to; tau = 0.1 is the sigma at which noisy data and physics are balanced as exact data and physics are
// (docs/tasks.md). Only exact values of entries are hard: may replace entries of a sample.

#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// What is known of a batch; a default one is empty: nothing is known, as in generation.
struct Target {
  Tensor values;                 ///< [B,C,H,W] network units; where nothing is known the channel's value for physical 0
  Tensor mask;                   ///< 1 where known, else 0
  Tensor weight;                 ///< w, 0 where unknown
  Tensor exact;                  ///< 1 where known without noise, else 0
  Tensor sigma;                  ///< of each value, network units; 0 where exact or unknown
  Functionals functionals = {};  ///< network units; trust is their w

  bool empty() const { return !mask.defined(); }

  /// [B].
  Tensor misfit(const Tensor& z) const;

  /// z with the exact values in their places; z itself where nothing is known.
  Tensor mixed(const Tensor& z) const { return empty() ? z : exact * values + (1 - exact) * z; }

  /// [B]: sum_i w_i (z_i - z'_i)^2 with the weights of guided samplers, whose steps follow a norm and not a likelihood:
  /// w = 1 / (1 + sigma^2 / tau^2).
  Tensor pull(const Tensor& z) const;

  /// [B]: n, and whether a value of the sample is noisy.
  Tensor known_values() const;
  Tensor noisy() const;

  /// Noisy values moved by their sigma times a draw of sample number first, first + 1, ...
  Target perturbed(uint64_t seed, int64_t first) const;

  Target narrow(int64_t first, int64_t count) const;

  /// Samples by number (int64 [n], any order, with repeats).
  Target select(const Tensor& samples) const;
};

/// s0 and tau of the misfit, network units.
constexpr double kExactSigma = 0.01, kBalancedSigma = 0.1;

/// A DataError that names the method for wrong shapes, values that are not finite, or negative sigma.
Target make_target(const Observation& observation, const Model& model, const std::string& method,
                   torch::ScalarType dtype = torch::kFloat32);

/// A DataError that names the method, the sample and the value where coefficients that are all known exactly are not
/// admissible: a solver would silently change them.
void check_given_coefficients(const Target& target, const Model& model, const std::string& method);

/// All values exact.
Target exact_target(const Tensor& values, const Tensor& mask);

}  // namespace piddm
