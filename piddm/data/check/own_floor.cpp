#include "piddm/data/check/own_floor.h"

#include <algorithm>

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"

namespace piddm {

namespace {

constexpr int64_t kSolvedTogether = 16;
constexpr double kSmallestError = 1e-6, kSmallestResidual = 1e-7, kCoefficientRounding = 5e-7;

Tensor channel_rms(const Tensor& x) { return x.square().mean({2, 3}).sqrt(); }  // [B,C]

/// Square roots of a/b; 0/0 is 0.
Tensor ratio(const Tensor& a, const Tensor& b) { return (a / b.clamp_min(1e-300)).sqrt(); }

bool only_scalar_coefficients(const Pde& pde) {
  const auto& all = pde.channels();
  return std::all_of(all.begin(), all.end(), [](const Channel& c) { return c.role == Role::solution || c.scalar; });
}

/// |u - u*(a)| at every point. Where a front passes a grid point, a number rounded to float32 decides on which side the
/// point lies: for scalar coefficients the nearest of u*(a) and its two neighbours within that rounding counts.
Tensor distance_to_solution(const Pde& pde, const Tensor& x, const Tensor& exact) {
  const auto u = pde.solution(x);
  auto distance = (u - exact).abs();
  if (!only_scalar_coefficients(pde)) return distance;
  for (const double factor : {1 - kCoefficientRounding, 1 + kCoefficientRounding}) {
    const auto neighbour = pde.solve(pde.admissible(pde.coefficients(x) * factor).coefficients);
    distance = torch::minimum(distance, (u - neighbour).abs());
  }
  return distance;
}

/// RMS(r_phys) of one equation over that of the references, as OwnFloor::residual says.
Tensor residual_ratio(const EquationStatistics& x, const EquationStatistics& reference, double c) {
  const auto least = reference.reference * (kSmallestResidual * kSmallestResidual);
  return torch::maximum(ratio(x.pde_error, reference.pde_error + least * (c * c)),
                        ratio(x.residual, reference.residual + least));
}

OwnFloor compare_solutions(const Pde& pde, const Tensor& x) {
  const auto reference = reference_samples(pde, x);
  const auto exact = pde.solution(reference), size = channel_rms(exact).clamp_min(1e-300);
  const auto distance = distance_to_solution(pde, x, exact);
  const auto of_x = residual_statistics(pde, x), of_reference = residual_statistics(pde, reference);
  const auto noise = size.amax(1).square() * (kSmallestError * kSmallestError);
  const auto equations = pde.equations();
  OwnFloor out;
  out.distance = (channel_rms(distance) / size).amax(1);
  out.point = (distance.amax({2, 3}) / size).amax(1);
  out.floor = of_reference;
  for (size_t i = 0; i < equations.size(); ++i) {
    const auto one = residual_ratio(of_x.equations[i], of_reference.equations[i], equations[i].scale);
    out.residual = i == 0 ? one : torch::maximum(out.residual, one);
  }
  out.boundary =
      of_x.boundary.defined() ? ratio(of_x.boundary, of_reference.boundary + noise) : torch::zeros_like(out.residual);
  out.constraint = constraint_error(pde, x) / (constraint_error(pde, reference) + kSmallestError);
  return out;
}

const std::vector<Tensor OwnFloor::*> kScores = {&OwnFloor::distance, &OwnFloor::point, &OwnFloor::residual,
                                                 &OwnFloor::boundary, &OwnFloor::constraint};

OwnFloor join(const std::vector<OwnFloor>& parts) {
  OwnFloor all;
  for (const auto score : kScores) {
    std::vector<Tensor> pieces;
    for (const auto& part : parts) pieces.push_back(part.*score);
    all.*score = torch::cat(pieces);
  }
  std::vector<ResidualStatistics> floors;
  for (const auto& part : parts) {
    floors.push_back(part.floor);
    if (all.failure.empty()) all.failure = part.failure;
  }
  all.floor = join_statistics(floors);
  return all;
}

/// The batch as a whole or, where one of its samples cannot be solved, sample by sample.
OwnFloor compare_or_fail(const Pde& pde, const Tensor& x) try {
  return compare_solutions(pde, x);
} catch (const Error& error) {
  if (interrupt_requested()) throw;
  if (x.size(0) > 1) {
    std::vector<OwnFloor> parts;
    for (int64_t i = 0; i < x.size(0); ++i) parts.push_back(compare_or_fail(pde, x.narrow(0, i, 1)));
    return join(parts);
  }
  OwnFloor failed{.failure = error.what()};
  for (const auto score : kScores) failed.*score = torch::full({1}, INFINITY, torch::kFloat64);
  return failed;
}

}  // namespace

Tensor constraint_error(const Pde& pde, const Tensor& fields) {
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < fields.size(0); first += kSolvedTogether) {
    const auto x = fields.slice(0, first, first + kSolvedTogether).to(torch::kFloat64);
    const auto moved = channel_rms(pde.solution(pde.constrain(x) - x));
    const auto share = (moved / channel_rms(pde.solution(x)).clamp_min(1e-300)).amax(1);
    parts.push_back(share.to(torch::kCPU, torch::kFloat64));
  }
  return torch::cat(parts);
}

Tensor reference_samples(const Pde& pde, const Tensor& x) {
  const auto a = pde.admissible(pde.coefficients(x)).coefficients;
  return torch::cat({pde.solve(a).to(torch::kFloat32).to(torch::kFloat64), a}, 1);
}

OwnFloor compare_with_references(const Pde& pde, const Tensor& fields, const std::vector<int64_t>& samples) {
  const torch::NoGradGuard no_grad;
  require<UsageError>(!samples.empty(), "[{}] no samples to compare with their reference solutions", pde.name());
  std::vector<OwnFloor> parts;
  Progress progress("re-solving", static_cast<int64_t>(samples.size()));
  const auto index = torch::tensor(samples);
  for (int64_t first = 0; first < index.size(0); first += kSolvedTogether) {
    throw_if_interrupted("checking data");
    const auto chosen = index.slice(0, first, first + kSolvedTogether);
    parts.push_back(compare_or_fail(pde, fields.index_select(0, chosen).to(torch::kFloat64)));
    progress.advance(chosen.size(0));
  }
  auto all = join(parts);
  all.samples = samples;
  return all;
}

}  // namespace piddm
