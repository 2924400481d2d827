#include "piddm/language/expression.h"

#include "piddm/core/error.h"

namespace piddm {

ExpressionPtr number(double value) {
  return std::make_shared<Expression>(Expression{.kind = ExpressionKind::number, .value = value});
}

}  // namespace piddm
