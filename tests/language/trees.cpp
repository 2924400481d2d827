#include "tests/language/trees.h"

#include <fmt/format.h>

#include <array>

namespace piddm::testing {

namespace {

int below(std::mt19937& random, int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }

template <class List>
auto one_of(std::mt19937& random, const List& list) {
  return list[static_cast<size_t>(below(random, static_cast<int>(list.size())))];
}

constexpr std::array kNames = {"u", "v", "a", "k", "nu", "x", "y", "t"};
constexpr std::array<double, 6> kNumbers = {0.5, 2, 3, 1e-3, 2.5e7, 1.0 / 3};

}  // namespace

SyntaxPtr random_syntax(std::mt19937& random, int depth) {
  using Kind = Syntax::Kind;
  Syntax e;
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) e.arguments.push_back(random_syntax(random, depth - 1));
  };
  switch (depth == 0 ? below(random, 2) : below(random, 8)) {
    case 0:
      e.value = one_of(random, kNumbers);
      e.name = fmt::format("{}", e.value);
      break;
    case 1:
      e = {.kind = Kind::name, .name = one_of(random, kNames)};
      break;
    case 2:
      e.kind = Kind::negative;
      add(1);
      break;
    case 3:
      e = {.kind = Kind::vector};
      add(1 + below(random, 2));
      break;
    case 4:
      e = {.kind = Kind::call, .name = one_of(random, std::array{"f", "lap", "where", "dxy"})};
      add(below(random, 3));
      break;
    default:
      e = {.kind = Kind::binary, .name = one_of(random, std::array{"+", "-", "*", "/", "^", "<", ">", "<=", ">="})};
      add(2);
  }
  return std::make_shared<Syntax>(std::move(e));
}

ExpressionPtr random_expression(std::mt19937& random, int depth) {
  using enum Coordinate;
  const auto inner = [&] { return random_expression(random, depth - 1); };
  switch (depth == 0 ? below(random, 4) : below(random, 9)) {
    case 0:
      return number((below(random, 2) ? 1 : -1) * one_of(random, kNumbers));
    case 1:
      return parameter_named(one_of(random, std::array{"k", "nu"}));
    case 2:
      return field_named(one_of(random, std::array{"u", "v", "a"}));
    case 3:
      return coordinate_along(one_of(random, std::array{x, y, t}));
    case 4:
      return derivative(inner(), one_of(random, std::array{x, y, t}));
    case 5:
      return operation(one_of(random, std::array{"exp", "tanh", "abs", "harmonic", "step", "-"}), {inner()});
    case 6:
      return operation("where", {inner(), inner(), inner()});
    default:
      return operation(one_of(random, std::array{"+", "-", "*", "^", "<", ">=", "min", "max"}), {inner(), inner()});
  }
}

}  // namespace piddm::testing
