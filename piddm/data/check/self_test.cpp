#include "piddm/data/check/self_test.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "piddm/core/error.h"
#include "piddm/core/interrupt.h"
#include "piddm/core/rng.h"
#include "piddm/data/statistics.h"
#include "piddm/pde/text/manufactured.h"

namespace piddm {
namespace {

constexpr double kLeastOrder = 1.75;
constexpr double kExact = 1e-9;        // errors of spectral derivatives on the finest grid, in units of the solution
constexpr double kDifferences = 1e-6;  // central differences against an exact derivative
constexpr double kTransposed = 1e-10;  // exact ones against each other
constexpr double kSolved = 1e-16;      // pde_error: that of white noise of 1e-9 of the solution
constexpr double kSolvedResidual = 1e-6;
constexpr double kDecoded = 1e-7;
constexpr double kBeside = 0.05;  // of the solution: where derivatives are taken
constexpr double kStep = 1e-5;    // of differences, of the same
constexpr uint64_t kSeed = 17;

Tensor noise(const std::vector<int64_t>& size, int64_t which) {
  return normal(kSeed, Stream::observation_noise, which, 1, size, torch::kFloat64)[0];
}

double size_of(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }
double product_of(const Tensor& a, const Tensor& b) { return (a * b).sum().item<double>(); }
double difference(const Tensor& a, const Tensor& b) { return size_of(a - b) / size_of(b); }

Interval usual_range(const Tensor& values) {
  const Tensor sorted = std::get<0>(values.flatten().contiguous().sort());
  const auto n = static_cast<double>(sorted.numel() - 1);
  const auto at = [&](double share) { return sorted[std::lround(share * n)].item<double>(); };
  return {at(0.1), at(0.9)};
}

/// Solutions and coefficients of samples as the discrete system has them.
struct Fields {
  Tensor u, a;  ///< [B,F,L,X,Y], [B,C_a,X,Y]
};

Fields fields_of(const TextPde& pde, const Tensor& x) {
  const Tensor a = pde.system_coefficients(pde.coefficients(x));
  return {pde.system_solution(pde.solution(x), a), a};
}

std::map<std::string, Interval> usual_ranges(const TextPde& pde, const Fields& fields) {
  const auto& text = pde.system().text();
  std::map<std::string, Interval> ranges;
  int64_t f = 0, c = 0;
  for (const auto& solution : text.solutions) ranges[solution.name] = usual_range(fields.u.select(1, f++));
  for (const auto& coefficient : text.coefficients)
    ranges[coefficient.field.name] = usual_range(fields.a.select(1, c++));
  return ranges;
}

std::string how_measured(const Convergence& convergence, size_t solution, double duration) {
  std::vector<std::string> errors;
  for (const auto& row : convergence.errors) errors.push_back(fmt::format("{:.1e}", row[solution]));
  auto text = fmt::format("{} on {} to {} intervals", fmt::join(errors, ", "), convergence.intervals.front(),
                          convergence.intervals.back());
  if (convergence.duration > 0 && convergence.duration < duration)
    text += fmt::format(", t up to {:.3g}, small errors grow too much beyond", convergence.duration);
  return text;
}

void add_orders(const PdeText& text, const Convergence& convergence, SelfTest& test) {
  const auto* time = text.axis(Coordinate::t);
  const auto kink = not_smooth(text);
  for (size_t f = 0; f < text.solutions.size(); ++f) {
    SelfCheck check{.name = "order of " + text.solutions[f].name,
                    .value = convergence.order(f),
                    .limit = kLeastOrder,
                    .at_least = true,
                    .note = how_measured(convergence, f, time ? time->length : 0)};
    if (!kink.empty()) {
      check.limit = {};
      check.note = fmt::format("no limit, '{}' is not smooth; {}", kink, check.note);
    } else if (convergence.finest(f) <= kExact) {
      check = {.name = "error of " + text.solutions[f].name,
               .value = convergence.finest(f),
               .limit = kExact,
               .note = check.note};
    }
    test.checks.push_back(check);
  }
}

void test_order(const TextPde& pde, const Fields& fields, SelfTest& test) {
  const auto& text = pde.system().text();
  try {
    add_orders(text, measure_convergence(text, usual_ranges(pde, fields)), test);
  } catch (const NumericsError& error) {
    test.checks.push_back({.name = "order",
                           .value = std::numeric_limits<double>::quiet_NaN(),
                           .limit = kLeastOrder,
                           .at_least = true,
                           .note = fmt::format("the manufactured problem: {}", error.what())});
  }
}

/// One row of the discrete equations, at its last level, beside a solution.
void test_row(const TextPde& pde, const Fields& fields, SelfTest& test) {
  const auto& system = pde.system();
  const int64_t last = system.levels() - 1, known = std::min<int64_t>(last, 2);
  const Tensor a = fields.a.narrow(0, 0, 1);
  const Tensor u = fields.u.narrow(0, 0, 1).select(2, last);
  const Tensor before = system.order() > 0 ? fields.u.narrow(0, 0, 1).narrow(2, last - known, known) : Tensor();
  const double size = size_of(u);
  const auto shape = u.sizes().slice(1).vec();
  const Tensor beside = u + noise(shape, 0) * (kBeside * size), v = noise(shape, 1).unsqueeze(0) * size;
  const Tensor w = noise(shape, 2).unsqueeze(0).masked_fill(system.ring(), 0);
  const auto row = [&](const Tensor& at) { return system.row(at, before, a, last); };
  const Tensor inner = v.masked_fill(system.ring(), 0);
  const Tensor product = system.jacobian_product(beside, before, a, last, v).masked_fill(system.ring(), 0);
  const Tensor differences = (row(beside + inner * kStep) - row(beside - inner * kStep)) / (2 * kStep);
  test.checks.push_back(
      {.name = "J v against differences", .value = difference(differences, product), .limit = kDifferences});
  if (system.has_table()) {
    const Tensor table = stencil_product(system.pattern(), system.jacobian(beside, before, a, last), v);
    test.checks.push_back({.name = "J v from the table of entries",
                           .value = difference(table.masked_fill(system.ring(), 0), product),
                           .limit = kTransposed});
  }
  const torch::AutoGradMode grad(true);
  const Tensor at = beside.clone().requires_grad_(true);
  const Tensor transposed = torch::autograd::grad({(row(at) * w).sum()}, {at}).at(0);
  test.checks.push_back({.name = "J^T w",
                         .value = std::abs(product_of(transposed, inner) - product_of(w, product)) /
                                  (size_of(w) * size_of(product) * std::sqrt(static_cast<double>(w.numel()))),
                         .limit = kTransposed,
                         .note = "automatic differentiation"});
}

/// sum_e <w_e, r_e> and <w, boundary> of samples: one number that sees every entry of the residual.
Tensor weighed(const TextPde& pde, const Tensor& x) {
  const auto residual = pde.residual(x);
  int64_t which = 10;
  const auto seen = [&](const Tensor& r) {
    return (r * noise(r.sizes().vec(), which++)).sum() / std::sqrt(static_cast<double>(r.numel()));
  };
  Tensor sum = torch::zeros({}, torch::kFloat64);
  const auto equations = pde.equations();
  for (size_t e = 0; e < residual.fields.size(); ++e)
    sum = sum + seen(residual.fields[e].interior) * equations[e].scale;
  return residual.boundary.defined() ? sum + seen(residual.boundary) : sum;
}

void test_residual_gradient(const TextPde& pde, const Tensor& samples, SelfTest& test) {
  const Tensor x0 = samples.narrow(0, 0, 1);
  Tensor sizes = x0.square().mean({-1, -2}, true).sqrt();
  sizes = torch::where(sizes > 0, sizes, torch::ones_like(sizes));
  const Tensor x = x0 + noise(x0.sizes().vec(), 3) * sizes * kBeside, v = noise(x0.sizes().vec(), 4) * sizes;
  const torch::AutoGradMode grad(true);
  const Tensor at = x.clone().requires_grad_(true);
  const double exact = product_of(torch::autograd::grad({weighed(pde, at)}, {at}).at(0), v);
  const torch::NoGradGuard no_grad;
  const Tensor two = weighed(pde, x + v * kStep) - weighed(pde, x - v * kStep);
  const double differences = two.item<double>() / (2 * kStep);
  test.checks.push_back({.name = "gradient of residual",
                         .value = std::abs(differences - exact) / std::abs(exact),
                         .limit = kDifferences});
}

void test_floors(const TextPde& pde, SelfTest& test) {
  const auto statistics = residual_statistics(pde, test.samples);
  for (const auto& [name, value] : residual_scores(pde, statistics))
    test.checks.push_back(
        {.name = name, .value = value, .limit = name.starts_with("pde_error") ? kSolved : kSolvedResidual});
  if (statistics.boundary.defined())
    test.checks.push_back({.name = "boundary_error", .value = statistics.mean_boundary_error(), .limit = kSolved});
  const Tensor u = pde.solution(test.samples);
  Tensor x = test.samples.clone();
  const Tensor sizes = u.square().mean({-1, -2}, true).sqrt();
  x.narrow(1, 0, u.size(1)).add_(noise(u.sizes().vec(), 5) * sizes * kBeside);
  test.checks.push_back({.name = "decoded samples",
                         .value = difference(pde.solution(pde.decode(x).x), u),
                         .limit = kDecoded,
                         .note = "with 5 % of noise on u, against their solution"});
}

}  // namespace

bool SelfCheck::pass() const {
  if (!limit) return true;
  return at_least ? value >= *limit : value <= *limit;
}

bool SelfTest::pass() const {
  return std::all_of(checks.begin(), checks.end(), [](const SelfCheck& check) { return check.pass(); });
}

std::string SelfTest::failures() const {
  std::vector<std::string> names;
  for (const auto& check : checks)
    if (!check.pass()) names.push_back(check.name);
  return fmt::format("{}", fmt::join(names, "; "));
}

json SelfTest::to_json() const {
  json rows = json::array();
  for (const auto& check : checks)
    rows.push_back({{"name", check.name},
                    {"value", check.value},
                    {"limit", check.limit ? json(*check.limit) : json(nullptr)},
                    {"at_least", check.at_least},
                    {"pass", check.pass()},
                    {"note", check.note}});
  return rows;
}

std::string SelfTest::text() const {
  auto text = fmt::format("{:<30} {:>10} {:>10}\n", "check", "value", "limit");
  for (const auto& check : checks) {
    const auto limit = check.limit ? fmt::format("{} {:.3g}", check.at_least ? ">=" : "<=", *check.limit) : "-";
    const char* const verdict = !check.limit ? "-" : check.pass() ? "ok" : "FAILED";
    text += fmt::format("{:<30} {:>10.3g} {:>10}  {}\n", check.name, check.value, limit,
                        check.note.empty() ? verdict : fmt::format("{:<6} {}", verdict, check.note));
  }
  return text;
}

SelfTest test_text_pde(const TextPde& pde, const Tensor& coefficients) {
  const torch::NoGradGuard no_grad;
  const Tensor a = pde.admissible(coefficients.to(torch::kCPU, torch::kFloat64)).coefficients;
  SelfTest test;
  test.samples = torch::cat({pde.solve(a), a}, 1);
  const auto fields = fields_of(pde, test.samples);
  test_order(pde, fields, test);
  throw_if_interrupted("testing a PDE");
  test_row(pde, fields, test);
  test_residual_gradient(pde, test.samples, test);
  test_floors(pde, test);
  return test;
}

}  // namespace piddm
