#include "benchmarks/corrector.h"

#include "benchmarks/timing.h"
#include "piddm/core/device.h"
#include "piddm/core/table.h"
#include "piddm/numerics/sine_transform.h"
#include "piddm/pde/darcy.h"

namespace piddm::bench {

namespace {

/// x = (u, a), float32, with the lowest quarter of u's sine modes along each axis.
Tensor blurred(const Tensor& x) {
  Tensor modes = sine_transform(x.narrow(1, 0, 1));
  for (const int64_t axis : {2, 3}) {
    const int64_t n = modes.size(axis);
    modes.narrow(axis, n / 4, n - n / 4).zero_();
  }
  return torch::cat({inverse_sine_transform(modes), x.narrow(1, 1, 1)}, 1).to(torch::kFloat32);
}

Tensor composed(const Pde& pde, const Tensor& x, int64_t iterations) {
  const Tensor u = x.narrow(1, 0, 1), a = x.narrow(1, 1, 1);
  const auto& lengths = dynamic_cast<const Darcy&>(pde).lengths();
  return torch::cat({DarcyOperator(a, lengths).correct(torch::ones_like(a.detach()), u, iterations), a}, 1);
}

using Form = std::function<Tensor(const Tensor&)>;

CorrectorTime time_of(const Form& ours, const Form& other, const Tensor& x, bool gradient, const CorrectorOptions& o) {
  const auto work = [&](const Form& form) -> Contestant {
    return [&x, &form, gradient] {
      const torch::AutoGradMode mode(gradient);
      const Tensor leaf = x.detach().requires_grad_(gradient);
      const Tensor y = form(leaf);
      if (gradient) torch::autograd::grad({y.sum()}, {leaf});
    };
  };
  const auto ms = take_turns({work(ours), work(other)}, o.repeats, o.device);
  return {ms[0] / static_cast<double>(o.n), ms[1] / static_cast<double>(o.n)};
}

CorrectorRow measure(const Pde& pde, const Tensor& x, const Tensor& exact, int64_t k, const CorrectorOptions& o) {
  const Tensor y = k == 0 ? x : pde.correct(x, k);
  const Tensor r = pde.residual(y).fields.front().interior;
  const Tensor u = pde.solution(y).to(torch::kFloat64), truth = pde.solution(exact);
  CorrectorRow row{.grid = pde.grid(), .iterations = k};
  row.rel_residual = r.square().mean({1, 2, 3}).sqrt().mean().item<double>();
  row.pde_error = pde.pde_error(y).mean().item<double>();
  row.error_of_u = ((u - truth).square().mean() / truth.var()).item<double>();
  if (k == 0) return row;
  const Form ours = [&](const Tensor& v) { return pde.correct(v, k); };
  const Form other = [&](const Tensor& v) { return composed(pde, v, k); };
  row.forward = time_of(ours, other, x, false, o);
  row.gradient = time_of(ours, other, x, true, o);
  return row;
}

json time_json(const CorrectorTime& time) { return {{"ms", time.ours_ms}, {"composed_ms", time.composed_ms}}; }

std::string ratio_text(const CorrectorTime& time) {
  return time.ours_ms > 0 ? format_number(time.composed_ms / time.ours_ms) : "-";
}

}  // namespace

CorrectorResult bench_corrector(const CorrectorOptions& o) {
  CorrectorResult result{o, {}};
  for (const auto& grid : o.grids) {
    const auto pde = make_pde({.name = "darcy", .grid = grid});  // name: the PDE whose corrector iterates
    const Tensor exact = pde->sample(o.seed, 0, o.n, nullptr, o.device), x = blurred(exact);
    for (const int64_t k : o.iterations) result.rows.push_back(measure(*pde, x, exact, k, o));
  }
  return result;
}

json corrector_json(const CorrectorResult& result) {
  const auto& [o, rows] = result;
  json list = json::array();
  for (const auto& row : rows)
    list.push_back({{"grid", row.grid.to_json()},
                    {"iterations", row.iterations},
                    {"rel_residual", row.rel_residual},
                    {"pde_error", row.pde_error},
                    {"error_of_u", row.error_of_u},
                    {"forward", time_json(row.forward)},
                    {"gradient", time_json(row.gradient)}});
  return {{"machine", describe_machine()}, {"n", o.n}, {"repeats", o.repeats}, {"rows", list}};
}

std::string corrector_report(const CorrectorResult& result) {
  Table table({"grid", "iterations", "rel_residual", "pde_error", "error of u", "ms", "composed/ours",
               "with gradient ms", "composed/ours"},
              std::vector<Align>(9, Align::right));
  for (const auto& row : result.rows)
    table.add_row({row.grid.text(), std::to_string(row.iterations), format_number(row.rel_residual),
                   format_number(row.pde_error), format_number(row.error_of_u), format_number(row.forward.ours_ms),
                   ratio_text(row.forward), format_number(row.gradient.ours_ms), ratio_text(row.gradient)});
  return fmt::format("{}\nmilliseconds per sample of a batch of {}, median of {} turns, float32; {}\n", table.text(),
                     result.options.n, result.options.repeats, describe_machine().at("cpu").get<std::string>());
}

}  // namespace piddm::bench
