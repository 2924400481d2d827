#include "piddm/data/check/resampling_cost.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/table.h"
#include "piddm/data/check/own_floor.h"
#include "piddm/data/check/suspicion.h"
#include "piddm/data/statistics.h"

namespace piddm {

namespace {

using Score = ResamplingCost::Score;

Score score_of(const Pde& pde, const Tensor& x) {
  const auto statistics = residual_statistics(pde, x);
  return {statistics.mean_pde_error(), statistics.rel_residual()};
}

/// Nothing where that is not possible.
template <class F>
std::optional<Score> score_if_any(F&& f) try {
  return f();
} catch (const Error&) {
  if (interrupt_requested()) throw;
  return {};
}

json score_json(const Score& score) { return {{"pde_error", score.pde_error}, {"rel_residual", score.rel_residual}}; }

}  // namespace

json ResamplingCost::to_json() const {
  json j = {{"samples", samples}, {"after", score_json(after)}};
  if (before) j["before"] = score_json(*before);
  if (there_and_back) j["there_and_back"] = score_json(*there_and_back);
  if (solutions) j["floor"] = score_json(*solutions);
  return j;
}

std::string ResamplingCost::text() const {
  Table table({fmt::format("first {} samples", samples), "pde_error", "rel_residual"},
              {Align::left, Align::right, Align::right});
  const auto add = [&](const std::string& name, const std::optional<Score>& score) {
    if (score)
      table.add_row({name, fmt::format("{:.3g}", score->pde_error), fmt::format("{:.3g}", score->rel_residual)});
  };
  add("as they were", before);
  add("resampled", after);
  add("solutions, there and back", there_and_back);
  add("solutions (floor)", solutions);
  return table.text();
}

ResamplingCost resampling_cost(const Pde& pde, const Tensor& given, const GridPoints& from, const Tensor& resampled) {
  const torch::NoGradGuard no_grad;
  ResamplingCost cost{.samples = given.size(0), .after = score_of(pde, resampled)};
  cost.before = score_if_any([&] {
    const GridSize grid(given.size(2), given.size(3));
    return grid == pde.grid() ? score_of(pde, given) : score_of(*with_grid(pde, grid), given);
  });
  Tensor exact;
  cost.solutions = score_if_any([&] {
    exact = reference_samples(pde, resampled.to(torch::kFloat64));
    return score_of(pde, exact);
  });
  if (exact.defined())
    cost.there_and_back = score_if_any([&] {
      const auto back = spline_resample(pde, spline_resample_to(pde, exact, from), from);
      return score_of(pde, back.to(torch::kFloat32));
    });
  return cost;
}

}  // namespace piddm
