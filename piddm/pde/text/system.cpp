#include "piddm/pde/text/system.h"

#include <algorithm>

#include "piddm/core/error.h"

namespace piddm {
namespace {

std::vector<std::string> names_of(const std::vector<FieldText>& fields) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  return names;
}

bool holds(const Expression& e, const std::vector<std::string>& unknowns) {
  if (e.kind == ExpressionKind::field) return std::find(unknowns.begin(), unknowns.end(), e.name) != unknowns.end();
  return std::any_of(e.arguments.begin(), e.arguments.end(), [&](const auto& a) { return holds(*a, unknowns); });
}

bool is_zero(const ExpressionPtr& e) { return e->kind == ExpressionKind::number && e->value == 0; }

ExpressionPtr sum_of(const std::vector<ExpressionPtr>& terms) {
  ExpressionPtr sum = number(0);
  for (const auto& term : terms) sum = operation("+", {sum, term});
  return sum;
}

/// What rel_residual is measured against.
ExpressionPtr reference_of(const ExpressionPtr& residual, const std::vector<std::string>& unknowns) {
  const auto terms = terms_of(residual);
  std::vector<ExpressionPtr> in_time, sources;
  for (const auto& term : terms) {
    if (has_derivative(*term, Coordinate::t)) in_time.push_back(term);
    if (!holds(*term, unknowns)) sources.push_back(term);
  }
  if (!in_time.empty()) return sum_of(in_time);
  const auto source = sum_of(sources);
  const auto& term = is_zero(source) ? terms.front() : source;
  const bool negative = term->kind == ExpressionKind::operation && term->name == "-" && term->arguments.size() == 1;
  return negative ? term->arguments[0] : term;  // its size counts, not its sign
}

/// Values at every point: [B,R,X,Y] of something that may be constant along an axis.
Tensor expanded(const Tensor& x, int64_t batch, int64_t rows, std::array<int64_t, 2> points) {
  return x.expand({batch, rows, points[0], points[1]});
}

constexpr Place kAtLevels = {.x = Site::points, .y = Site::points, .levels = true};

}  // namespace

bool is_affine(const Expression& e, const std::vector<std::string>& unknowns) {
  if (!holds(e, unknowns) || e.kind == ExpressionKind::field) return true;
  if (e.kind == ExpressionKind::derivative) return is_affine(*e.arguments[0], unknowns);
  const auto affine = [&](size_t i) { return is_affine(*e.arguments[i], unknowns); };
  const auto known = [&](size_t i) { return !holds(*e.arguments[i], unknowns); };
  if (e.name == "+" || (e.name == "-" && e.arguments.size() == 2)) return affine(0) && affine(1);
  if (e.name == "-") return affine(0);
  if (e.name == "*") return (known(0) && affine(1)) || (known(1) && affine(0));
  if (e.name == "/") return known(1) && affine(0);
  if (e.name == "where") return known(0) && affine(1) && affine(2);
  return false;
}

std::vector<ExpressionPtr> terms_of(const ExpressionPtr& e) {
  if (e->kind != ExpressionKind::operation || (e->name != "+" && e->name != "-")) return {e};
  auto terms = terms_of(e->arguments[0]);
  if (e->arguments.size() == 1) {
    for (auto& term : terms) term = operation("-", {term});
    return terms;
  }
  for (const auto& term : terms_of(e->arguments[1])) terms.push_back(e->name == "+" ? term : operation("-", {term}));
  return terms;
}

TextSystem::TextSystem(const PdeText& text, std::array<int64_t, 2> points)
    : grid_(text, points), pattern_(1, {1, 1}, {0, 0}, {false, false}) {
  const auto unknowns = names_of(text.solutions);
  linear_ = true;
  for (const auto& equation : text.equations) {
    residuals_.push_back(equation.residual());
    references_.push_back(reference_of(equation.residual(), unknowns));
    order_ = std::max(order_, derivative_depth(*residuals_.back(), Coordinate::t));
    linear_ = linear_ && is_affine(*residuals_.back(), unknowns);
  }
  check();
  if (const auto* time = text.axis(Coordinate::t)) {
    levels_ = time->points;
    step_ = time->length / static_cast<double>(levels_ - 1);
  }
  const auto [x, y] = this->points();
  ring_ = torch::zeros({fields(), x, y}, torch::kBool);
  for (int64_t f = 0; f < fields(); ++f)
    for (size_t a = 0; a < 2; ++a)
      for (const bool high : {false, true})
        if (grid_.axes()[a].walls() && grid_.is_ring(text.solutions[static_cast<size_t>(f)].name, a, high))
          ring_.select(0, f).select(static_cast<int64_t>(a), high ? -1 : 0).fill_(true);
  const auto reach = has_table() ? this->reach() : std::array<int64_t, 2>{0, 0};
  pattern_ = StencilPattern(fields(), {x, y}, reach, {!grid_.axes()[0].walls(), !grid_.axes()[1].walls()});
  seeds_ = pattern_.seeds().masked_fill(ring_, 0);
}

void TextSystem::check() const {
  for (size_t e = 0; e < residuals_.size(); ++e) {
    const auto& r = *residuals_[e];
    const auto& name = text().solutions[e].name;
    const int depth = derivative_depth(r, Coordinate::t);
    require<UsageError>(depth <= 2, "{}: derivatives in time up to dtt, the equation of {} has more", text().name,
                        name);
    require<UsageError>(
        depth == order_,
        "{}: all equations need the same order in time, that of {} has {}; write dtt(u) = .. as dt(u) = "
        "v, dt(v) = .. to mix them",
        text().name, name, depth);
    for (size_t a = 0; a < 2; ++a)
      require<UsageError>(
          !grid_.axes()[a].walls() || derivative_depth(r, a == 0 ? Coordinate::x : Coordinate::y) <= 2,
          "{}: derivatives above the second order need a periodic axis; write the equation with a second "
          "field, e.g. w = lap(u)",
          text().name);
  }
}

std::array<int64_t, 2> TextSystem::reach() const {
  std::array<int64_t, 2> reach = {0, 0};
  for (size_t a = 0; a < 2; ++a) {
    const auto& axis = grid_.axes()[a];
    int depth = 0;
    for (const auto& r : residuals_)
      depth = std::max(depth, derivative_depth(*r, a == 0 ? Coordinate::x : Coordinate::y));
    reach[a] = (depth + 1) / 2;
    if (depth > 0 && axis.spectral_1.defined()) reach[a] = axis.points;
    if (depth > 0 && axis.walls() && axis.kind == AxisText::Kind::nodes && fields() > 1) reach[a] = 2;
  }
  return reach;
}

// --- evaluation ---

std::map<std::string, Dual> TextSystem::inputs(const Tensor& coefficients) const {
  std::map<std::string, Dual> fields;
  int64_t c = 0;
  for (const auto& coefficient : text().coefficients) {
    Tensor values = coefficients.size(1) == 1 ? coefficients : coefficients.narrow(1, c++, 1);
    if (coefficient.scalar) values = values.narrow(2, 0, 1).narrow(3, 0, 1);
    fields[coefficient.field.name] = {values};
  }
  return fields;
}

void TextSystem::add_levels(std::map<std::string, Dual>& fields, const std::vector<Dual>& solutions) const {
  for (size_t f = 0; f < solutions.size(); ++f) fields[text().solutions[f].name] = solutions[f];
}

std::vector<Tensor> TextSystem::over_levels(const Tensor& u, const Tensor& coefficients,
                                            const std::vector<ExpressionPtr>& expressions) const {
  auto inputs = this->inputs(coefficients);
  Tensor all = u;
  if (order_ == 2)
    all = torch::cat({u.narrow(2, 1, 1) - 2 * step_ * initial_rate(coefficients).to(u.scalar_type()), u}, 2);
  std::vector<Dual> solutions;
  for (int64_t f = 0; f < fields(); ++f) solutions.push_back({fields() == 1 ? all.squeeze(1) : all.select(1, f)});
  add_levels(inputs, solutions);
  TextEvaluation evaluate(grid_, std::move(inputs),
                          {.order = order_, .step = step_, .first = order_ == 2 ? -1 : 0, .last = false}, u.options());
  std::vector<Tensor> out;
  const int64_t rows = order_ == 0 ? 1 : u.size(2) - 1;
  for (const auto& e : expressions) out.push_back(expanded(evaluate(e).value, u.size(0), rows, points()));
  return out;
}

TextSystem::Rows TextSystem::rows(const Tensor& u, const Tensor& coefficients) const {
  auto all = residuals_;
  all.insert(all.end(), references_.begin(), references_.end());
  const auto values = over_levels(u, coefficients, all);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(residuals_.size());
  return {{values.begin(), middle}, {middle, values.end()}};
}

Tensor TextSystem::state(const Tensor& coefficients, bool rate) const {
  TextEvaluation evaluate(grid_, inputs(coefficients), {.order = order_, .step = step_}, coefficients.options());
  std::vector<Tensor> states;
  for (const auto& field : text().solutions) {
    const auto given = std::find_if(text().initial.begin(), text().initial.end(),
                                    [&](const auto& i) { return i.field == field.name && i.rate == rate; });
    require<UsageError>(given != text().initial.end(), "{}: no initial state of {}{}", text().name, rate ? "dt " : "",
                        field.name);
    states.push_back(expanded(evaluate.at(given->state, kAtLevels).value, coefficients.size(0), 1, points()));
  }
  return torch::stack(states, 1);
}

Tensor TextSystem::initial(const Tensor& coefficients) const { return state(coefficients, false); }
Tensor TextSystem::initial_rate(const Tensor& coefficients) const { return state(coefficients, true); }

Tensor TextSystem::ring_values(const Tensor& coefficients, int64_t level) const {
  return ring_values(coefficients, level, 1).select(2, 0);
}

Tensor TextSystem::ring_values(const Tensor& coefficients, int64_t first, int64_t levels) const {
  TextEvaluation evaluate(grid_, inputs(coefficients),
                          {.order = order_, .step = step_, .first = first, .levels = levels}, coefficients.options());
  const auto [x, y] = points();
  const Tensor values = torch::zeros({coefficients.size(0), fields(), levels, x, y}, coefficients.options());
  for (int64_t f = 0; f < fields(); ++f)
    for (size_t a = 0; a < 2; ++a)
      for (const bool high : {false, true}) {
        const auto& name = text().solutions[static_cast<size_t>(f)].name;
        if (!grid_.axes()[a].walls() || !grid_.is_ring(name, a, high)) continue;
        const auto& wall = grid_.wall(name, a, high);
        const auto given = operation("/", {wall.given, wall.value});
        if (is_zero(given)) continue;
        const Tensor there = evaluate.at(given, kAtLevels.with(a, high ? Site::high : Site::low)).value;
        const auto dim = static_cast<int64_t>(a) + 2;  // of [B,L,X,Y]
        const Tensor target = values.select(1, f).narrow(dim, high ? values.size(dim + 1) - 1 : 0, 1);
        target.copy_(there.expand_as(target));
      }
  return values;
}

std::pair<int64_t, int64_t> TextSystem::scored(int64_t f, size_t axis) const {
  const auto& name = text().solutions[static_cast<size_t>(f)].name;
  const auto& along = grid_.axes()[axis];
  if (!along.walls()) return {0, along.points};
  const int64_t low = grid_.is_ring(name, axis, false) ? 1 : 0, high = grid_.is_ring(name, axis, true) ? 1 : 0;
  return {low, along.points - low - high};
}

// --- rows of a window ---

std::vector<Dual> TextSystem::window_row(const Dual& unknown, const Tensor& before, const Tensor& coefficients,
                                         int64_t level) const {
  auto inputs = this->inputs(coefficients);
  const int64_t known = before.defined() ? before.size(2) : 0;
  std::vector<Dual> solutions;
  for (int64_t f = 0; f < fields(); ++f) {
    const auto level_of = [&](const Tensor& t) { return t.defined() ? t.narrow(-3, f, 1) : t; };
    const Dual last = {level_of(unknown.value), level_of(unknown.tangent)};
    std::vector<Dual> all;
    if (order_ == 2 && known == 1) all.push_back(last - Dual{initial_rate(coefficients).select(1, f)} * (2 * step_));
    for (int64_t l = 0; l < known; ++l) all.push_back({before.select(1, f).narrow(1, l, 1)});
    all.push_back(last);
    solutions.push_back(all.size() == 1 ? last : concatenate(all, kTimeDim));
  }
  add_levels(inputs, solutions);
  const int64_t first = level - known - (order_ == 2 && known == 1 ? 1 : 0);
  TextEvaluation evaluate(grid_, std::move(inputs), {.order = order_, .step = step_, .first = first, .last = true},
                          coefficients.options());
  std::vector<Dual> rows;
  for (const auto& residual : residuals_) rows.push_back(evaluate(residual));
  return rows;
}

Tensor TextSystem::row(const Tensor& unknown, const Tensor& before, const Tensor& coefficients, int64_t level) const {
  std::vector<Tensor> rows;
  for (const auto& row : window_row({unknown}, before, coefficients, level))
    rows.push_back(expanded(row.value, unknown.size(0), 1, points()));
  return torch::cat(rows, 1).masked_fill(ring_.to(unknown.device()), 0);
}

Tensor TextSystem::jacobian(const Tensor& unknown, const Tensor& before, const Tensor& coefficients,
                            int64_t level) const {
  const int64_t b = unknown.size(0), p = pattern_.colours();
  const auto [x, y] = points();
  const Tensor tangent = seeds_.to(unknown.options()).unsqueeze(1);  // [P,1,F,X,Y]
  std::vector<Tensor> rows;
  for (const auto& row : window_row({unknown, tangent}, before, coefficients, level)) {
    const Tensor t = row.tangent.defined() ? row.tangent : torch::zeros({1, 1, 1, 1, 1}, unknown.options());
    rows.push_back(t.expand({p, b, 1, x, y}));
  }
  const Tensor entries = torch::cat(rows, 2).transpose(0, 1).contiguous();  // [B,P,F,X,Y]
  if (!ring_.any().item<bool>()) return entries;
  const Tensor ring = ring_.to(unknown.device());
  return entries.masked_fill(ring, 0) + pattern_.own().to(unknown.options()) * ring;
}

Tensor TextSystem::jacobian_product(const Tensor& unknown, const Tensor& before, const Tensor& coefficients,
                                    int64_t level, const Tensor& v) const {
  const Tensor ring = ring_.to(unknown.device());
  std::vector<Tensor> rows;
  for (const auto& row : window_row({unknown, v.masked_fill(ring, 0)}, before, coefficients, level))
    rows.push_back(row.tangent.defined() ? row.tangent.expand({v.size(0), 1, v.size(2), v.size(3)})
                                         : torch::zeros_like(v.narrow(1, 0, 1)));
  return torch::where(ring, v, torch::cat(rows, 1));
}

Tensor TextSystem::second_difference(int64_t f, size_t axis) const {
  const auto& along = grid_.axes()[axis];
  const int64_t n = along.points;
  if (!along.present) return torch::zeros({1, 1}, torch::kFloat64);
  const auto& name = text().solutions[static_cast<size_t>(f)].name;
  const auto [x, y] = points();
  std::map<std::string, Dual> fields;
  for (const auto& coefficient : text().coefficients)
    fields[coefficient.field.name] = {torch::ones({1, 1, 1, 1}, torch::kFloat64)};
  const Tensor unit = torch::eye(n, torch::kFloat64).view({n, 1, 1, axis == 0 ? n : 1, axis == 0 ? 1 : n});
  fields[name] = {torch::zeros({1, 1, x, y}, torch::kFloat64), unit.expand({n, 1, 1, x, y})};
  TextEvaluation evaluate(grid_, std::move(fields), {.order = 0, .step = step_}, torch::kFloat64);
  const auto coordinate = axis == 0 ? Coordinate::x : Coordinate::y;
  const auto e = derivative(derivative(field_named(name), coordinate), coordinate);
  const Tensor columns = evaluate(e).tangent.expand({n, 1, 1, x, y}).mean(axis == 0 ? -1 : -2).view({n, n});
  const Tensor matrix = columns.t().contiguous();
  for (const bool high : {false, true})
    if (along.walls() && grid_.is_ring(name, axis, high)) {
      const int64_t i = high ? n - 1 : 0;
      matrix.select(0, i).zero_();
      matrix.select(1, i).zero_();
      matrix[i][i] = -2 / (along.spacing * along.spacing);
    }
  return matrix;
}

}  // namespace piddm
