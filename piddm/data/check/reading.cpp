#include "piddm/data/check/reading.h"

#include <cmath>

#include "piddm/core/interrupt.h"
#include "piddm/data/check/own_floor.h"

namespace piddm {

namespace {

constexpr int64_t kBesideTheWrap = 2;  // entries that a stencil of width 5 takes across it

/// The part of a scored field [B,1,h,w] that a reading counts.
Tensor counted(const Reading& reading, const Tensor& field) {
  const auto axes = reading.pde->axes();
  auto part = field;
  for (size_t d = 0; d < 2; ++d) {
    const auto dim = static_cast<int64_t>(d) + 2;
    const bool ring = axes[d].kind == AxisKind::periodic;
    const int64_t cut = ring ? (reading.open[d] ? kBesideTheWrap : 0) : (reading.inside ? 1 : 0);
    part = part.narrow(dim, cut, part.size(dim) - 2 * cut);
  }
  return part;
}

struct Part {
  Tensor values;      // residuals, 0 where they do not count
  double square = 0;  // what a mean square of 1 stands for: count times the mean square of the reference term
  double covered = 1;
};

Part scored_part(const Reading& reading, const ResidualField& field) {
  const auto r = counted(reading, field.interior),
             reference = counted(reading, field.reference.expand_as(field.interior));
  if (!field.smooth.defined()) return {r.flatten(), reference.square().sum().item<double>(), 1};
  const auto mask = counted(reading, field.smooth).to(torch::kFloat64);
  return {(r * mask).flatten(), (reference.square() * mask).sum().item<double>(), mask.mean().item<double>()};
}

struct Parts {
  std::vector<Part> equations;
  Tensor boundary;  // over the RMS of the first solution channel
};

Parts parts_of(const Reading& reading) {
  const auto r = reading.form ? reading.form->residual(reading.x) : reading.pde->residual(reading.x);
  Parts parts;
  for (const auto& field : r.fields) parts.equations.push_back(scored_part(reading, field));
  if (r.boundary.defined() && !reading.inside)
    parts.boundary = r.boundary.flatten() / reading.x.select(1, 0).square().mean().sqrt();
  return parts;
}

double finite_or_infinite(double value) { return std::isfinite(value) ? value : INFINITY; }

}  // namespace

Misfit misfit(const Reading& reading) {
  const auto parts = parts_of(reading);
  Misfit sum;
  const auto count = static_cast<double>(parts.equations.size());
  for (const auto& part : parts.equations) {
    sum.residual += finite_or_infinite(part.values.square().sum().item<double>() / part.square / count);
    sum.covered = std::min(sum.covered, part.covered);
  }
  if (parts.boundary.defined()) sum.boundary = finite_or_infinite(parts.boundary.square().mean().item<double>());
  return sum;
}

Tensor residual_vector(const Reading& reading) {
  const auto parts = parts_of(reading);
  std::vector<Tensor> pieces;
  const double units = static_cast<double>(parts.equations.size()) * reading.floor.residual;
  for (const auto& part : parts.equations) pieces.push_back(part.values / std::sqrt(part.square * units));
  if (parts.boundary.defined())
    pieces.push_back(parts.boundary / std::sqrt(static_cast<double>(parts.boundary.numel()) * reading.floor.boundary));
  return torch::cat(pieces);
}

Tensor distance_vector(const Reading& reading, Tensor solution) {
  if (!solution.defined()) solution = reading.pde->solution(exact(reading).x);
  const auto size = solution.square().sum({2, 3}, true).sqrt();
  const auto count = static_cast<double>(solution.size(0) * solution.size(1));
  return ((reading.pde->solution(reading.x) - solution) / size).flatten() / std::sqrt(count);
}

std::optional<Reading> attempt(const Change& change, const Reading& reading) try {
  return change(reading);
} catch (const Error&) {
  if (interrupt_requested()) throw;
  return {};
}

Reading exact(const Reading& reading) {
  return {.pde = reading.pde, .x = reference_samples(*reading.pde, reading.x), .floor = reading.floor};
}

}  // namespace piddm
