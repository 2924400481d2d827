#pragma once
// Tensors that carry a derivative along: value + epsilon tangent. Every operation of language/expression.h on them, so
// that one walk through a syntax tree gives f(x) and J v together, exactly. The tangent may have more leading axes than
// the value: several directions v at once.

#include <string>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

struct Dual {
  Tensor value;
  Tensor tangent = {};  ///< undefined: zero

  int64_t size(int64_t dim) const { return value.size(dim); }
};

Dual operator+(const Dual& a, const Dual& b);
Dual operator-(const Dual& a, const Dual& b);
Dual operator-(const Dual& a);
Dual operator*(const Dual& a, const Dual& b);
Dual operator/(const Dual& a, const Dual& b);
Dual operator*(const Dual& a, double factor);

/// The operation of this name (language/expression.h). Bits of an entry do not depend on the others.
Dual apply_operation(const std::string& name, const std::vector<Dual>& arguments);

/// 2 a b / (a + b), 0 where both are 0.
Dual harmonic_mean(const Dual& a, const Dual& b);

/// Entries start .. start+length-1 along `dim`, counted from the last axis (-1, -2, ..); an axis of one entry is left
/// as it is: it stands for a constant.
Dual narrow(const Dual& x, int64_t dim, int64_t start, int64_t length);

/// One after the other along `dim`, the other axes expanded to each other.
Dual concatenate(const std::vector<Dual>& parts, int64_t dim);

}  // namespace piddm
