#pragma once
// An observation as methods work with it: in network units, on the model's device, with weights for noisy values.
//
//   misfit  1/n sum_i w_i (z_i - z'_i)^2 over the n known entries of a sample
//   w_i     1 where nothing is noisy; else proportional to 1/(s0^2 + sigma_i^2), sigma in network units, with mean 1 in
//           a sample
//
// so noise shifts weight between the values of a sample, and the balance between misfit and physics stays. s0 = 0.01 is
// what an exact value among noisy ones is trusted to. Only exact values are hard: may replace entries of a sample.

#include <string>

#include "piddm/model/model.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// What is known of a batch; a default one is empty: nothing is known, as in generation.
struct Target {
  Tensor values;  ///< [B,C,H,W] network units; where nothing is known the channel's value for physical 0
  Tensor mask;    ///< 1 where known, else 0
  Tensor weight;  ///< w, 0 where unknown
  Tensor exact;   ///< 1 where known without noise, else 0
  Tensor sigma;   ///< of each value, network units; 0 where exact or unknown

  bool empty() const { return !mask.defined(); }

  /// [B].
  Tensor misfit(const Tensor& z) const;

  /// z with the exact values in their places; z itself where nothing is known.
  Tensor mixed(const Tensor& z) const { return empty() ? z : exact * values + (1 - exact) * z; }

  Target narrow(int64_t first, int64_t count) const;
};

/// What trusting an exact value means among noisy ones, network units.
constexpr double kExactSigma = 0.01;

/// A DataError that names the method for wrong shapes, values that are not finite, or negative sigma.
Target make_target(const Observation& observation, const Model& model, const std::string& method,
                   torch::ScalarType dtype = torch::kFloat32);

/// A DataError that names the method, the sample and the value where coefficients that are all known exactly are not
/// admissible: a solver would silently change them.
void check_given_coefficients(const Target& target, const Model& model, const std::string& method);

/// All values exact.
Target exact_target(const Tensor& values, const Tensor& mask);

}  // namespace piddm
