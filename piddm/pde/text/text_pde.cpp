#include "piddm/pde/text/text_pde.h"

#include <algorithm>

#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

AxisKind kind_of(AxisText::Kind kind) {
  switch (kind) {
    case AxisText::Kind::cells:
      return AxisKind::cells;
    case AxisText::Kind::nodes:
      return AxisKind::nodes;
    case AxisText::Kind::periodic:
      return AxisKind::periodic;
    default:
      return AxisKind::time;
  }
}

bool is_zero(const ExpressionPtr& e) { return e->kind == ExpressionKind::number && e->value == 0; }

bool holds_time(const Expression& e) {
  if (e.kind == ExpressionKind::coordinate && e.axis == Coordinate::t) return true;
  return std::any_of(e.arguments.begin(), e.arguments.end(), [](const auto& a) { return holds_time(*a); });
}

/// float32 files round what they hold.
constexpr double kRounding = 1e-6;

}  // namespace

PdeOptions options_of_text(const json& table, const std::string& origin) {
  const auto text = read_pde_text(table, origin);
  PdeOptions options;
  options.name = text.name;
  options.grid = {text.axes[0].points, text.axes[1].points};
  options.definition = {.table = table};
  return options;
}

TextPde::TextPde(PdeOptions options)
    : TextPde(options, read_pde_text(options.definition.table, "[" + options.name + "]")) {}

TextPde::TextPde(PdeOptions options, const PdeText& text)
    : Pde(std::move(options)),
      text_(text),
      timed_(text.axis(Coordinate::t) != nullptr),
      planar_(text.axis(Coordinate::y) != nullptr),
      solver_(std::make_shared<TextSystem>(with_options(text), space_points())),
      law_(solver_.system().grid()) {
  require<UsageError>(
      !text_.coefficients.empty(),
      "[{}] no coefficients: every sample would be the same; write what differs from sample to sample as "
      "coefficients = {{ a = \"field: gauss(alpha=2, tau=3)\" }} or {{ k = \"uniform(1, 2)\" }}",
      name());
  ring_ = system().ring().any().item<bool>();
  for (const auto& wall : system().text().walls) {
    ring_moves_ = ring_moves_ || holds_time(*wall.given) || holds_time(*wall.value);
    ring_is_zero_ = ring_is_zero_ && is_zero(wall.given);
  }
  const int64_t scored_levels = timed_ ? system().levels() - 1 : 1;
  ring_places_ = system().ring().unsqueeze(1).expand({-1, scored_levels, -1, -1}).nonzero().t().contiguous().unbind();
  make_channels();
}

/// The text with the points of the grid, the lengths and the constants in force.
PdeText TextPde::with_options(PdeText text) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [key, value] : text.parameters) {
    const double far = 1e3 * std::max(std::abs(value), 1.0);
    numbers.emplace_back(key, parameter(key, value, -far, far, "constant of the equation"));
  }
  for (auto& axis : text.axes) {
    const bool time = axis.axis == Coordinate::t;
    axis.length = length(time ? "duration" : axis.axis == Coordinate::x ? "length_x" : "length_y", axis.length);
    if (axis.axis == Coordinate::x) axis.points = grid().height();
    if (axis.axis == Coordinate::y || (time && !planar_)) axis.points = grid().width();
  }
  return with_numbers(text, numbers);
}

std::array<int64_t, 2> TextPde::space_points() const { return {grid().height(), planar_ ? grid().width() : 1}; }

// --- what it is ---

GridAxes TextPde::axes() const {
  GridAxes axes;
  const auto& all = system().text().axes;
  for (size_t i = 0; i < 2; ++i) {
    const auto& axis = all[i];
    axes[i] = {.name = axis.axis == Coordinate::x   ? "x"
                       : axis.axis == Coordinate::y ? "y"
                                                    : "t",
               .kind = kind_of(axis.kind),
               .length = axis.length,
               .unit = axis.unit,
               .title = axis.title};
  }
  return axes;
}

std::string TextPde::summary() const {
  std::string out = text_.title;
  for (const auto& equation : text_.equations) out += (out.empty() ? "" : ", ") + equation.unicode;
  return out;
}

/// Where it is zero all around.
ZeroOn TextPde::zero_on(const std::string& field) const {
  if (timed_ && !planar_) return ZeroOn::nothing;
  const auto& axes = system().grid().axes();
  if (axes[0].kind != axes[1].kind || !axes[0].walls()) return ZeroOn::nothing;
  for (size_t a = 0; a < 2; ++a)
    for (const bool high : {false, true})
      if (!system().grid().gives_value(field, a, high) || !is_zero(system().grid().wall(field, a, high).given))
        return ZeroOn::nothing;
  return axes[0].kind == AxisText::Kind::nodes ? ZeroOn::ring : ZeroOn::wall;
}

Channel TextPde::solution_channel(const FieldText& field) const {
  return {.name = field.name, .zero_on = zero_on(field.name), .unit = field.unit, .title = field.title};
}

void TextPde::make_channels() {
  for (const auto& field : text_.solutions) {
    if (!planar_in_time()) {
      channels_.push_back(solution_channel(field));
      continue;
    }
    for (int64_t level = 1; level < system().levels(); ++level) {
      channels_.push_back(solution_channel(field));
      auto& channel = channels_.back();
      channel.name += std::to_string(level);
      const auto time = fmt::format("t = {:.4g}", static_cast<double>(level) * system().step());
      channel.title += (channel.title.empty() ? "" : " at ") + time;
    }
  }
  for (const auto& coefficient : system().text().coefficients)
    channels_.push_back({.name = coefficient.field.name,
                         .role = Role::coefficient,
                         .scalar = coefficient.scalar,
                         .two_valued = coefficient.two_valued,
                         .valid = coefficient.valid,
                         .unit = coefficient.field.unit,
                         .title = coefficient.field.title});
  for (const auto& channel : channels_)
    require<UsageError>(std::count_if(channels_.begin(), channels_.end(),
                                      [&](const Channel& other) { return other.name == channel.name; }) == 1,
                        "[{}] the name {} is also that of a solution at one of its times; take another name", name(),
                        channel.name);
}

// --- layout ---

Tensor TextPde::system_coefficients(const Tensor& coefficients) const {
  std::vector<Tensor> all;
  const int64_t x = grid().height(), y = planar_ ? grid().width() : 1, first = num_solution_channels();
  for (int64_t c = 0; c < coefficients.size(1); ++c) {
    const Tensor field = coefficients.narrow(1, c, 1);
    const bool scalar = channels_[static_cast<size_t>(first + c)].scalar;
    all.push_back(scalar ? scalar_value(field).expand({-1, -1, x, y}) : planar_ ? field : mean_over_time(field));
  }
  return all.size() == 1 ? all[0] : torch::cat(all, 1);
}

Tensor TextPde::system_solution(const Tensor& solution, const Tensor& system_coefficients) const {
  const int64_t b = solution.size(0), fields = system().fields();
  if (!timed_) return solution.unsqueeze(2);
  if (!planar_) return solution.permute({0, 1, 3, 2}).unsqueeze(4);
  const Tensor stored = solution.reshape({b, fields, system().levels() - 1, grid().height(), grid().width()});
  return torch::cat({system().initial(system_coefficients), stored}, 2);
}

Tensor TextPde::solution_channels(const Tensor& u) const {
  if (!timed_) return u.squeeze(2);
  if (!planar_) return u.squeeze(4).permute({0, 1, 3, 2}).contiguous();
  return u.narrow(2, 1, u.size(2) - 1).flatten(1, 2);
}

/// Rows [B,R,X,Y] of an equation at its scored points, side by side: [B,1,x,R y].
Tensor TextPde::picture(const Tensor& rows, size_t equation) const {
  const auto f = static_cast<int64_t>(equation);
  const auto [x, x_count] = system().scored(f, 0);
  const auto [y, y_count] = system().scored(f, 1);
  Tensor scored = rows;
  if (x_count < rows.size(2)) scored = scored.narrow(2, x, x_count);
  if (y_count < rows.size(3)) scored = scored.narrow(3, y, y_count);
  return scored.permute({0, 2, 1, 3}).reshape({rows.size(0), 1, x_count, rows.size(1) * y_count});
}

// --- samples ---

Tensor TextPde::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  const Tensor a = law_.sample(seed, first, count);
  return planar_ ? a : a.repeat({1, 1, 1, grid().width()});
}

Tensor TextPde::solve_from(const Tensor& a, const Tensor& start, SolveReport* report) const {
  return solution_channels(solver_.solve(a, start.defined() && !timed_ ? start.unsqueeze(2) : Tensor(), report));
}

Tensor TextPde::solve(const Tensor& coefficients, const Tensor& start, SolveReport* report) const {
  const Tensor checked = checked_coefficients(coefficients);
  const Tensor a = system_coefficients(checked);
  for (int64_t c = 0; c < a.size(1); ++c) {
    const auto& channel = channels_[static_cast<size_t>(num_solution_channels() + c)];
    if (!channel.valid) continue;
    const auto [low, high] = *channel.valid;
    const double smallest = a.select(1, c).min().item<double>(), largest = a.select(1, c).max().item<double>();
    require<DataError>(smallest >= low - kRounding * std::abs(low) && largest <= high + kRounding * std::abs(high),
                       "[{}] {} must be between {} and {}, got {} to {}", name(), channel.name, low, high, smallest,
                       largest);
  }
  require<DataError>(!start.defined() || (start.dim() == 4 && start.size(0) == checked.size(0) &&
                                          start.size(1) == num_solution_channels() &&
                                          start.sizes().slice(2) == checked.sizes().slice(2)),
                     "[{}] expected a start ({},{},{},{}), got {}", name(), checked.size(0), num_solution_channels(),
                     grid().height(), grid().width(), start.defined() ? shape_string(start) : "none");
  return solve_from(a, start.defined() ? start.detach().to(torch::kFloat64) : start, report);
}

Admissible TextPde::admissible(const Tensor& coefficients) const {
  if (planar_) return Pde::admissible(coefficients);
  return Pde::admissible(mean_over_time(checked_coefficients(coefficients)).expand_as(coefficients));
}

Decoded TextPde::decode(const Tensor& x) const {
  const torch::NoGradGuard no_grad;
  const Tensor y = checked_to_decode(x);
  const Admissible admitted = admissible(coefficients(y));
  const Tensor a = system_coefficients(admitted.coefficients);
  SolveReport report;
  Tensor u;
  try {
    u = solve_from(a, solution(y), &report);
  } catch (const NumericsError&) {  // too far from a solution to begin with
    u = solve_from(a, {}, &report);
  }
  return decoded(y, admitted, u, torch::tensor(report.each, torch::kInt64).to(y.device()));
}

// --- residual ---

Residual TextPde::residual(const Tensor& x) const {
  check_residual_input(x);
  const Tensor a = system_coefficients(coefficients(x)), u = system_solution(solution(x), a);
  const auto rows = system().rows(u, a);
  Residual out;
  for (size_t e = 0; e < rows.residual.size(); ++e)
    out.fields.push_back({.interior = picture(rows.residual[e], e),
                          .reference = picture(rows.reference[e], e),
                          .pictures = planar_in_time() ? rows.residual[e].size(1) : 1});
  out.boundary = boundary_error(u, a);
  return out;
}

/// Given values at levels first..: [B,F,levels or 1,X,Y].
Tensor TextPde::given_ring(const Tensor& a, int64_t first, int64_t levels) const {
  return system().ring_values(a, first, ring_moves_ ? levels : 1);
}

Tensor TextPde::boundary_error(const Tensor& u, const Tensor& a) const {
  std::vector<Tensor> parts;
  const auto add = [&](const Tensor& error, const Tensor& field) {
    parts.push_back(field.defined() ? error * field : error);
  };
  Tensor weights;  // [1,F,1,1,1], to units of the first solution
  if (system().fields() > 1) {
    std::vector<double> relative;
    for (const double size : sizes()) relative.push_back(sizes()[0] / size);
    weights = torch::tensor(relative, torch::kFloat64).to(u.options().requires_grad(false)).view({1, -1, 1, 1, 1});
  }
  if (timed_ && !planar_) add(u.narrow(2, 0, 1) - system().initial(a), weights);
  if (ring_) {
    const int64_t first = timed_ ? 1 : 0, levels = u.size(2) - first;
    const Tensor own = u.narrow(2, first, levels);
    std::vector<at::indexing::TensorIndex> places = {torch::indexing::Slice()};
    for (const auto& along : ring_places_) places.emplace_back(along.to(u.device()));
    const auto on_ring = [&](const Tensor& field) {
      return field.expand({-1, -1, levels, u.size(3), u.size(4)}).index(places);
    };
    const Tensor error = ring_is_zero_ ? on_ring(own) : on_ring(own) - on_ring(given_ring(a, first, levels));
    add(error, weights.defined() ? on_ring(weights) : weights);
  }
  for (auto& part : parts) part = part.flatten(1);
  return parts.empty() ? Tensor() : torch::cat(parts, 1);
}

Tensor TextPde::imposed(const Tensor& u, const Tensor& a) const {
  Tensor out = u;
  if (ring_) {
    const Tensor ring = system().ring().to(u.device()).unsqueeze(1);
    out = torch::where(ring, given_ring(a, 0, u.size(2)).expand_as(u), u);
  }
  return timed_ ? torch::cat({system().initial(a), out.narrow(2, 1, u.size(2) - 1)}, 2) : out;
}

Tensor TextPde::constrain(const Tensor& x) const {
  check_shape(x);
  if (!ring_ && (planar_ || !timed_)) return x;
  const Tensor own = coefficients(x), a = system_coefficients(own);
  return torch::cat({solution_channels(imposed(system_solution(solution(x), a), a)), own}, 1);
}

Tensor TextPde::given_boundary() const {
  const int64_t levels = system().levels(), h = grid().height(), w = grid().width();
  const Tensor ring = system().ring();
  if (planar_in_time()) return ring.unsqueeze(1).expand({-1, levels - 1, -1, -1}).flatten(0, 1).clone();
  if (!timed_) return ring.clone();
  const Tensor mask = ring.expand({-1, h, w}).clone();
  mask.select(2, 0).fill_(true);
  return mask;
}

}  // namespace piddm
