// The laws of coefficients: "uniform(0, 1)", "field: gauss(alpha=2, tau=3) -> exp(g)", "data: field"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "piddm/core/error.h"
#include "piddm/language/interval.h"
#include "piddm/language/reading.h"

namespace piddm::reading {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kWidening = 1e-2;  ///< what a decode may leave below the least value of a law
constexpr double kSmall = 1e-4;     ///< of the value at g = 0: the least value of a law that only tends to 0

const char* const kForms =
    "uniform(low, high), loguniform(low, high), normal(mean, deviation), field: gauss(alpha=2, tau=3) -> .., "
    "data: field or data: scalar";

class LawReader {
 public:
  LawReader(const PdeText& pde, const SourceText& source) : pde_(pde), source_(source), law_(parse_law(source)) {}

  void read_into(CoefficientText& coefficient) {
    if (law_.prefix == "data") return read_data(coefficient);
    if (law_.prefix == "field") return read_field(coefficient);
    if (!law_.prefix.empty())
      source_.fail(law_.at, unknown_name_message("kind of law", law_.prefix, {"field", "data"}));
    read_scalar(coefficient);
  }

 private:
  void refuse_map() const {
    if (law_.map) source_.fail(law_.map->at, "'->' belongs to field: laws only");
  }

  void read_data(CoefficientText& coefficient) const {
    if (law_.name != "field" && law_.name != "scalar")
      source_.fail(law_.name_at, unknown_name_message("kind of data", law_.name, {"field", "scalar"}));
    if (law_.called) source_.fail(law_.name_at, "data: takes no numbers");
    refuse_map();
    coefficient.scalar = law_.name == "scalar";
    coefficient.law.kind = LawText::Kind::data;
  }

  double constant(const LawSyntax::Argument& argument) const {
    const auto value = lower(*argument.value, {}, source_);
    if (value->kind != ExpressionKind::number) source_.fail(argument.at, "expected a number");
    return value->value;
  }

  void read_scalar(CoefficientText& coefficient) const {
    static const std::vector<std::string> names = {"uniform", "loguniform", "normal"};
    const auto kind = std::find(names.begin(), names.end(), law_.name);
    if (kind == names.end()) {
      if (law_.name == "gauss" || law_.name == "sine" || law_.name == "periodic")
        source_.fail(law_.name_at, fmt::format("a Gaussian field is written field: {}(..)", law_.name));
      const auto nearest = nearest_name(law_.name, names);
      source_.fail(law_.name_at, fmt::format("unknown law '{}'; {}", law_.name,
                                             nearest.empty() ? fmt::format("there are {}", kForms)
                                                             : fmt::format("did you mean '{}'?", nearest)));
    }
    refuse_map();
    const bool normal = law_.name == "normal";
    auto& law = coefficient.law;
    coefficient.scalar = true;
    law.kind = normal                      ? LawText::Kind::normal
               : law_.name == "loguniform" ? LawText::Kind::loguniform
                                           : LawText::Kind::uniform;
    const auto& arguments = law_.arguments;
    if (arguments.size() != 2 || !arguments[0].name.empty() || !arguments[1].name.empty())
      source_.fail(law_.name_at, fmt::format("expected {}({})", law_.name, normal ? "mean, deviation" : "low, high"));
    law.low = constant(arguments[0]), law.high = constant(arguments[1]);
    if (normal) {
      if (law.high <= 0) source_.fail(arguments[1].at, fmt::format("the deviation must be above 0, got {}", law.high));
      return;
    }
    if (law.low >= law.high)
      source_.fail(arguments[0].at, fmt::format("the low end {} is not below the high end {}", law.low, law.high));
    if (law.kind == LawText::Kind::loguniform && law.low <= 0)
      source_.fail(arguments[0].at, fmt::format("loguniform begins above 0, got {}", law.low));
    coefficient.valid = {{law.low, law.high}};
  }

  void read_field(CoefficientText& coefficient) const {
    static const std::vector<std::string> families = {"gauss", "sine", "periodic"};
    const auto family = std::find(families.begin(), families.end(), law_.name);
    if (family == families.end())
      source_.fail(law_.name_at, unknown_name_message("family of Gaussian fields", law_.name, families));
    auto& law = coefficient.law;
    law.kind = LawText::Kind::field;
    law.family = static_cast<LawText::Family>(family - families.begin());
    read_numbers(law);
    if (law.family == LawText::Family::periodic)
      for (const auto& axis : pde_.axes)
        if (axis.axis != Coordinate::t && axis.kind != AxisText::Kind::periodic)
          source_.fail(law_.name_at,
                       fmt::format("a periodic field needs periodic axes, and {} is not", letter(axis.axis)));
    law.map = law_.map ? lower(*law_.map, map_scope(), source_) : field_named("g");
    if (fields_of(*law.map).empty())
      source_.fail(law_.map->at, "the map holds no g: what is the same in every sample is written into the equation");
    read_two_values(coefficient);
    if (!coefficient.valid) coefficient.valid = implied_by(law.map);
  }

  void read_numbers(LawText& law) const {
    std::vector<std::string> given;
    for (const auto& argument : law_.arguments) {
      if (argument.name.empty())
        source_.fail(argument.at, fmt::format("expected a name: {}(alpha=2, tau=3, scale=1)", law_.name));
      if (std::find(given.begin(), given.end(), argument.name) != given.end())
        source_.fail(argument.at, fmt::format("{} is given twice", argument.name));
      given.push_back(argument.name);
      const double value = constant(argument);
      if (argument.name == "alpha")
        law.alpha = value;
      else if (argument.name == "tau")
        law.tau = value;
      else if (argument.name == "scale")
        law.scale = value;
      else
        source_.fail(argument.at, unknown_name_message("number of a field", argument.name, {"alpha", "tau", "scale"}));
      if (value <= 0) source_.fail(argument.at, fmt::format("{} must be above 0, got {}", argument.name, value));
    }
    const double least = 0.5 * static_cast<double>(scope_of(pde_).space.size());
    if (law.alpha <= least)
      source_.fail(law_.at, fmt::format("alpha must be above {}, half the number of space axes, or the variance is "
                                        "infinite; got {}",
                                        least, law.alpha));
  }

  Scope map_scope() const {
    auto scope = scope_of(pde_);
    std::erase_if(scope.names, [](const auto& name) { return name.second != ExpressionKind::parameter; });
    scope.names["g"] = ExpressionKind::field;
    scope.without_time = "a coefficient does not depend on t";
    scope.without_derivatives = "the map of a field takes no derivatives";
    return scope;
  }

  static void read_two_values(CoefficientText& coefficient) {
    const auto& map = *coefficient.law.map;
    if (map.kind != ExpressionKind::operation || map.name != "where") return;
    const auto &one = *map.arguments[1], &other = *map.arguments[2];
    if (one.kind != ExpressionKind::number || other.kind != ExpressionKind::number) return;
    coefficient.two_valued = std::minmax(one.value, other.value);
  }

  /// From the range of the map with g anywhere: a law that is never negative is valid above a little of its least.
  std::optional<std::pair<double, double>> implied_by(const ExpressionPtr& map) const {
    Ranges ranges;
    for (const auto& axis : pde_.axes) ranges.axes[axis.axis] = {0, axis.length};
    for (const auto& [name, value] : pde_.parameters) ranges.names[name] = {value, value};
    const auto range = range_of(*map, ranges);
    if (range.low > 0 && range.low < kInfinity) return {{kWidening * range.low, kInfinity}};
    if (range.low != 0 || range.high == 0) return {};
    ranges.names["g"] = {0, 0};
    const double usual = range_of(*map, ranges).low;
    if (!(usual > 0 && usual < kInfinity)) return {};
    return {{kSmall * usual, kInfinity}};
  }

  const PdeText& pde_;
  const SourceText& source_;
  LawSyntax law_;
};

}  // namespace

CoefficientText read_coefficient(const std::string& name, const json& law, const PdeText& pde,
                                 const std::string& origin) {
  const auto where = place(origin, "coefficients." + name);
  if (!law.is_string())
    throw UsageError("{}: expected a law in quotes ({}), got {}; a constant goes to parameters", where, kForms,
                     law.dump());
  const SourceText source{law.get<std::string>(), where};
  CoefficientText coefficient;
  coefficient.field.name = name;
  LawReader(pde, source).read_into(coefficient);
  return coefficient;
}

}  // namespace piddm::reading
