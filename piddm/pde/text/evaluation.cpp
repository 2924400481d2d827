#include "piddm/pde/text/evaluation.h"

#include <algorithm>

#include "piddm/core/error.h"
#include "piddm/pde/text/text_bands.h"

namespace piddm {
namespace {

bool is_slope(Site site) { return site == Site::low_slope || site == Site::high_slope; }
bool is_high(Site site) { return site == Site::high || site == Site::high_slope; }
bool is_wall(Site site) { return site != Site::points && site != Site::faces; }
Site wall_site(bool high) { return high ? Site::high : Site::low; }
Site slope_site(bool high) { return high ? Site::high_slope : Site::low_slope; }

Coordinate coordinate_of(size_t axis) { return axis == 0 ? Coordinate::x : Coordinate::y; }

int code_of(const Place& place) {
  return static_cast<int>(place.x) * 16 + static_cast<int>(place.y) * 2 + (place.levels ? 1 : 0);
}

Dual first_of(const Dual& x, int64_t dim) { return narrow(x, dim, 0, 1); }
Dual last_of(const Dual& x, int64_t dim) { return narrow(x, dim, x.size(dim) - 1, 1); }
Dual end_of(const Dual& x, int64_t dim, bool high) { return high ? last_of(x, dim) : first_of(x, dim); }
Dual without_last(const Dual& x, int64_t dim) { return narrow(x, dim, 0, x.size(dim) - 1); }
Dual without_first(const Dual& x, int64_t dim) { return narrow(x, dim, 1, x.size(dim) - 1); }

/// Constant along `dim` by convention.
bool is_constant(const Dual& x, int64_t dim) { return x.value.dim() < -dim || x.size(dim) == 1; }

/// `constants`: those of the band, which a tangent does not have.
Dual banded(const Band& band, const Dual& x, int64_t dim, bool constants = true) {
  Tensor tangent = x.tangent;
  if (tangent.defined() && tangent.size(dim) != band.columns()) {
    auto size = tangent.sizes().vec();
    size[size.size() - static_cast<size_t>(-dim)] = band.columns();
    tangent = tangent.expand(size);
  }
  return {band(x.value, dim, constants), tangent.defined() ? band(tangent, dim, false) : tangent};
}

/// An operation on fields #0, #1, .. in place of its arguments; numbers stay.
ExpressionPtr with_places(const Expression& e) {
  std::vector<ExpressionPtr> places;
  for (size_t i = 0; i < e.arguments.size(); ++i)
    places.push_back(e.arguments[i]->kind == ExpressionKind::number ? e.arguments[i]
                                                                    : field_named("#" + std::to_string(i)));
  return operation(e.name, places);
}

bool is_zero(const Expression& e) { return e.kind == ExpressionKind::number && e.value == 0; }

}  // namespace

TextEvaluation::TextEvaluation(const TextGrid& grid, std::map<std::string, Dual> fields, const TimeWindow& window,
                               const torch::TensorOptions& options)
    : grid_(grid), fields_(std::move(fields)), window_(window), options_(options.requires_grad(false)) {}

Dual TextEvaluation::constant(double value) const { return {torch::full({}, value, options_)}; }

ExpressionPtr TextEvaluation::named(const std::string& name) {
  auto& e = named_[name];
  if (!e) e = field_named(name);
  return e;
}

Dual TextEvaluation::at(const ExpressionPtr& e, const Place& place) {
  const auto key = std::pair(e.get(), code_of(place));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  kept_.push_back(e);
  return known_[key] = compute(e, place);
}

Dual TextEvaluation::compute(const ExpressionPtr& e, const Place& place) {
  const bool slope = is_slope(place.x) || is_slope(place.y);
  switch (e->kind) {
    case ExpressionKind::number:
    case ExpressionKind::parameter:
      return constant(slope ? 0 : e->value);
    case ExpressionKind::coordinate:
      return coordinate(e->axis, place);
    case ExpressionKind::field:
      return field(e->name, place);
    case ExpressionKind::operation:
      return operation_at(e, place);
    default:
      return e->axis == Coordinate::t ? along_time(e->arguments[0], place) : along_space(e, place);
  }
}

Dual TextEvaluation::coordinate(Coordinate axis, const Place& place) const {
  if (axis == Coordinate::t) {
    if (is_slope(place.x) || is_slope(place.y)) return constant(0);
    const auto any =
        std::find_if(fields_.begin(), fields_.end(), [&](const auto& entry) { return grid_.is_solution(entry.first); });
    const int64_t levels = any == fields_.end() ? window_.levels : any->second.size(kTimeDim);
    const Tensor t = (torch::arange(levels, torch::kFloat64) + static_cast<double>(window_.first)) * window_.step;
    const Dual column = {t.to(options_).view({-1, 1, 1})};
    return place.levels || window_.order == 0 ? column : rows_of(column);
  }
  const size_t a = axis == Coordinate::x ? 0 : 1;
  if (is_slope(place.site(1 - a))) return constant(0);
  const Tensor along = grid_.axes()[a].coordinates(place.site(a)).to(options_);
  return {a == 0 ? along.view({-1, 1}) : along.view({1, -1})};
}

// --- fields ---

Dual TextEvaluation::stored(const std::string& name, bool levels) const {
  const auto found = fields_.find(name);
  require<UsageError>(found != fields_.end(), "the field {} has no value here", name);
  const bool in_time = window_.order > 0 && grid_.is_solution(name);
  return levels || !in_time ? found->second : rows_of(found->second);
}

Dual TextEvaluation::field(const std::string& name, const Place& place) {
  if (place.x != Site::points && grid_.axes()[0].present) return carried(name, 0, place);
  if (place.y != Site::points && grid_.axes()[1].present) return carried(name, 1, place);
  return stored(name, place.levels);
}

/// The field at a site of `axis` that is not its points, from its values at the points.
Dual TextEvaluation::carried(const std::string& name, size_t axis, const Place& place) {
  const int64_t dim = grid_.axes()[axis].dim;
  const Site site = place.site(axis);
  const Place inside = place.with(axis, Site::points);
  Dual base = at(named(name), inside);
  if (is_wall(site)) return on_wall(name, axis, is_high(site), inside, is_slope(site));
  if (is_constant(base, dim)) return base;
  const auto& bands = grid_.bands();
  if (const auto& own = bands.of_field(name, axis).on_faces)
    return banded(*own, base, dim, !is_slope(place.site(1 - axis)));
  const Dual between = banded(bands.of_axis(axis).mean, base, dim);
  return concatenate({on_wall(name, axis, false, inside, false), between, on_wall(name, axis, true, inside, false)},
                     dim);
}

Dual TextEvaluation::on_wall(const std::string& name, size_t axis, bool high, const Place& inside, bool slope) {
  const auto& along = grid_.axes()[axis];
  const Dual base = at(named(name), inside);
  if (!grid_.is_solution(name)) return coefficient_on_wall(base, axis, high, slope);
  Dual u = end_of(base, along.dim, high);
  const bool nodes = along.kind == AxisText::Kind::nodes;
  if (nodes && !slope) return u;
  if (nodes && grid_.gives_value(name, axis, high)) return coefficient_on_wall(base, axis, high, true);
  const auto& wall = grid_.wall(name, axis, high);
  Place there = inside.with(axis, wall_site(high)), frozen = there;
  for (size_t a = 0; a < 2; ++a)
    if (is_slope(frozen.site(a))) frozen = frozen.with(a, wall_site(is_high(frozen.site(a))));
  const double half = nodes ? 0 : 0.5 * along.spacing;
  const Dual value = at(wall.value, frozen), given = at(wall.given, there);
  const Dual normal = (given - value * u) / (at(wall.slope, frozen) + value * half);
  return slope ? normal : u + normal * half;
}

Dual TextEvaluation::coefficient_on_wall(const Dual& inside, size_t axis, bool high, bool slope) const {
  const auto& along = grid_.axes()[axis];
  const int64_t dim = along.dim;
  if (is_constant(inside, dim)) return slope ? inside * 0 : inside;
  const int64_t n = inside.size(dim);
  const auto entry = [&](int64_t i) { return narrow(inside, dim, high ? n - 1 - i : i, 1); };
  Dual first = entry(0), second = entry(1);
  if (slope) {
    const Dual third = entry(2);
    const bool nodes = along.kind == AxisText::Kind::nodes;
    return (nodes ? first * 1.5 - second * 2.0 + third * 0.5 : first * 2.0 - second * 3.0 + third) *
           (1 / along.spacing);
  }
  if (along.kind == AxisText::Kind::nodes) return first;
  if (grid_.all_given(axis, high)) return first;
  const Dual far = first * 1.5 - second * 0.5, half = first * 0.5, twice = first * 2;
  return apply_operation("min", {apply_operation("max", {far, apply_operation("min", {half, twice})}),
                                 apply_operation("max", {half, twice})});
}

// --- operations ---

Dual TextEvaluation::operation_at(const ExpressionPtr& e, const Place& place) {
  for (size_t a = 0; a < 2; ++a) {
    if (is_slope(place.site(a))) return slope_of_operation(e, a, is_high(place.site(a)), place);
    if (e->name == "harmonic" && place.site(a) == Site::faces) return harmonic_on_faces(e->arguments[0], a, place);
  }
  std::vector<Dual> arguments;
  for (const auto& argument : e->arguments) arguments.push_back(at(argument, place));
  return apply_operation(e->name, arguments);
}

Dual TextEvaluation::harmonic_on_faces(const ExpressionPtr& argument, size_t axis, const Place& place) {
  const auto& along = grid_.axes()[axis];
  const int64_t dim = along.dim;
  Dual base = at(argument, place.with(axis, Site::points));
  if (is_constant(base, dim)) return base;
  if (!along.walls()) return harmonic_mean(base, concatenate({without_first(base, dim), first_of(base, dim)}, dim));
  Dual between = harmonic_mean(without_first(base, dim), without_last(base, dim));
  if (along.kind == AxisText::Kind::nodes) return between;
  return concatenate({at(argument, place.with(axis, Site::low)), between, at(argument, place.with(axis, Site::high))},
                     dim);
}

bool TextEvaluation::all_given(const Expression& e, size_t axis, bool high) const {
  bool any = false;
  for (const auto& name : fields_of(e))
    if (grid_.is_solution(name)) {
      if (!grid_.gives_value(name, axis, high)) return false;
      any = true;
    }
  return any;
}

/// dn f(a, b, ..) = sum f_a dn a. Where all is given, the difference from the wall to the first cell: f of degenerate
/// equations may have no slope at the wall.
Dual TextEvaluation::slope_of_operation(const ExpressionPtr& e, size_t axis, bool high, const Place& place) {
  const auto& along = grid_.axes()[axis];
  const Place wall = place.with(axis, wall_site(high));
  if (along.kind == AxisText::Kind::cells && all_given(*e, axis, high)) {
    const Dual inside = end_of(at(e, place.with(axis, Site::points)), along.dim, high);
    return (at(e, wall) - inside) * (2 / along.spacing);
  }
  const auto generic = with_places(*e);
  std::map<std::string, ExpressionPtr> arguments;
  for (size_t i = 0; i < e->arguments.size(); ++i) arguments["#" + std::to_string(i)] = e->arguments[i];
  const std::function<Dual(const ExpressionPtr&)> value_of = [&](const ExpressionPtr& tree) {
    if (tree->kind == ExpressionKind::number) return constant(tree->value);
    if (tree->kind == ExpressionKind::field) return at(arguments.at(tree->name), wall);
    std::vector<Dual> values;
    for (const auto& argument : tree->arguments) values.push_back(value_of(argument));
    return apply_operation(tree->name, values);
  };
  Dual sum = constant(0);
  for (const auto& [name, argument] : arguments)
    if (const auto partial = by_field(*generic, name); !is_zero(*partial))
      sum = sum + value_of(partial) * at(argument, place);
  return sum;
}

// --- derivatives ---

Dual TextEvaluation::along_space(const ExpressionPtr& e, const Place& place) {
  const auto& of = e->arguments[0];
  const size_t a = e->axis == Coordinate::x ? 0 : 1;
  const Site site = place.site(a);
  if (grid_.axes()[a].spectral_1.defined()) return spectral(of, a, place);
  if (is_slope(site)) throw UsageError("a derivative of the third order along an axis with walls");
  if (site == Site::low) return -at(of, place.with(a, Site::low_slope));
  if (site == Site::high) return at(of, place.with(a, Site::high_slope));
  if (site == Site::faces) return difference_of_points(of, a, place);
  const bool twice = of->kind == ExpressionKind::derivative && of->axis == e->axis;
  const auto& field = twice ? of->arguments[0] : of;
  if (field->kind == ExpressionKind::field) {
    const auto& bands = grid_.bands().of_field(field->name, a);
    const Dual base = at(field, place);
    if (is_constant(base, grid_.axes()[a].dim)) return base * 0;
    if (const auto& own = twice ? bands.second : bands.first)
      return banded(*own, base, grid_.axes()[a].dim, !is_slope(place.site(1 - a)));
  }
  return difference_of_faces(of, a, place);
}

/// On faces: (E_{i+1} - E_i)/h; on the walls of cells the normal derivative.
Dual TextEvaluation::difference_of_points(const ExpressionPtr& of, size_t axis, const Place& place) {
  const auto& along = grid_.axes()[axis];
  const int64_t dim = along.dim;
  const Dual base = at(of, place.with(axis, Site::points));
  const auto& bands = grid_.bands();
  const bool constant_along = is_constant(base, dim);
  if (of->kind == ExpressionKind::field && !constant_along)
    if (const auto& own = bands.of_field(of->name, axis).slope_on_faces)
      return banded(*own, base, dim, !is_slope(place.site(1 - axis)));
  if (constant_along && along.kind != AxisText::Kind::cells) return base * 0;
  Dual between = constant_along ? Dual{torch::zeros({along.points - 1}, options_)
                                           .view(dim == -2 ? std::vector<int64_t>{-1, 1} : std::vector<int64_t>{-1})}
                                : banded(bands.of_axis(axis).difference, base, dim);
  if (along.kind != AxisText::Kind::cells) return between;
  return concatenate({-at(of, place.with(axis, Site::low_slope)), between, at(of, place.with(axis, Site::high_slope))},
                     dim);
}

/// The mean of E itself on the faces, not E of the means; on walls its value there.
Dual TextEvaluation::mean_on_faces(const ExpressionPtr& of, size_t axis, const Place& place) {
  if (of->kind == ExpressionKind::field) return at(of, place.with(axis, Site::faces));
  const auto& along = grid_.axes()[axis];
  const int64_t dim = along.dim;
  Dual base = at(of, place.with(axis, Site::points));
  if (is_constant(base, dim)) return base;
  Dual between = banded(grid_.bands().of_axis(axis).mean, base, dim);
  if (along.kind != AxisText::Kind::cells) return between;
  return concatenate({at(of, place.with(axis, Site::low)), between, at(of, place.with(axis, Site::high))}, dim);
}

/// At points: (E_{i+1/2} - E_{i-1/2})/h.
Dual TextEvaluation::difference_of_faces(const ExpressionPtr& of, size_t axis, const Place& place) {
  const int64_t dim = grid_.axes()[axis].dim;
  const bool flux = has_derivative(*of, coordinate_of(axis));
  const Dual faces = flux ? at(of, place.with(axis, Site::faces)) : mean_on_faces(of, axis, place);
  if (is_constant(faces, dim)) return faces * 0;
  if (grid_.axes()[axis].kind == AxisText::Kind::nodes) return difference_at_nodes(of, axis, place, faces, flux);
  return banded(grid_.bands().of_axis(axis).divergence, faces, dim);
}

/// The same with the ends: half a cell of a flux, or the normal derivative; 0 where no equation is.
Dual TextEvaluation::difference_at_nodes(const ExpressionPtr& of, size_t axis, const Place& place, const Dual& faces,
                                         bool flux) {
  const auto& along = grid_.axes()[axis];
  const int64_t dim = along.dim;
  const double scale = 2 / along.spacing;
  const auto end = [&](bool high) {
    if (grid_.all_given(axis, high)) return Dual{torch::zeros({1, 1}, options_)};
    if (!flux) return at(of, place.with(axis, slope_site(high))) * (high ? 1 : -1);
    return (at(of, place.with(axis, wall_site(high))) - end_of(faces, dim, high)) * (high ? scale : -scale);
  };
  return concatenate({end(false), banded(grid_.bands().of_axis(axis).divergence, faces, dim), end(true)}, dim);
}

/// The first derivative by a matrix, or the second where E is itself a derivative along the axis.
Dual TextEvaluation::spectral(const ExpressionPtr& of, size_t axis, const Place& place) {
  const auto& along = grid_.axes()[axis];
  const bool twice = of->kind == ExpressionKind::derivative && of->axis == coordinate_of(axis);
  const Dual base = at(twice ? of->arguments[0] : of, place);
  if (is_constant(base, along.dim)) return base * 0;
  const Tensor matrix = (twice ? along.spectral_2 : along.spectral_1).to(options_);
  const auto product = [&](const Tensor& x) {
    if (!x.defined()) return x;
    return along.dim == -2 ? torch::matmul(matrix, x) : torch::matmul(x, matrix.t());
  };
  return {product(base.value), product(base.tangent)};
}

Dual TextEvaluation::rows_of(const Dual& e) const {
  if (is_constant(e, kTimeDim) || window_.order == 0) return e;
  const int64_t n = e.size(kTimeDim);
  const auto* bands = window_.last ? nullptr : grid_.bands().of_time(n);
  if (bands && (window_.order == 2 || e.value.requires_grad())) return banded(bands->rows, e, kTimeDim);
  if (window_.order == 1) return window_.last ? last_of(e, kTimeDim) : without_first(e, kTimeDim);
  const auto part = [&](int64_t first) { return narrow(e, kTimeDim, first, n - 2); };
  return (part(0) + part(1) * 2 + part(2)) * 0.25;
}

Dual TextEvaluation::along_time(const ExpressionPtr& of, const Place& place) {
  const double scale = 1 / window_.step;
  const bool twice = window_.order == 2 && of->kind == ExpressionKind::derivative && of->axis == Coordinate::t;
  Place levels = place;
  levels.levels = true;
  const Dual e = at(twice ? of->arguments[0] : of, levels);
  if (is_constant(e, kTimeDim)) return e * 0;
  const int64_t n = e.size(kTimeDim);
  if (const auto* bands = window_.last ? nullptr : grid_.bands().of_time(n))
    return banded(twice ? *bands->second : bands->first, e, kTimeDim);
  const auto part = [&](int64_t first, int64_t length) { return narrow(e, kTimeDim, first, length); };
  if (window_.order == 2)
    return twice ? (part(2, n - 2) - part(1, n - 2) * 2 + part(0, n - 2)) * (scale * scale)
                 : (part(2, n - 2) - part(0, n - 2)) * (0.5 * scale);
  Dual start = (part(1, 1) - part(0, 1)) * scale;
  if (n == 2) return start;
  const Dual rest = (part(2, n - 2) * 3 - part(1, n - 2) * 4 + part(0, n - 2)) * (0.5 * scale);
  return window_.last ? last_of(rest, kTimeDim) : concatenate({start, rest}, kTimeDim);
}

}  // namespace piddm
