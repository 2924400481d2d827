#include "piddm/pde/text/dual.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "piddm/core/error.h"

namespace piddm {
namespace {

Tensor sum_of(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

/// a t, or nothing.
Tensor scaled(const Tensor& tangent, const Tensor& factor) { return tangent.defined() ? tangent * factor : tangent; }

/// Transcendental functions of strided tensors may round differently from those of contiguous ones.
Tensor dense(const Tensor& x) { return x.contiguous(); }

Dual chained(const Tensor& value, const Tensor& tangent, const std::function<Tensor()>& slope) {
  return {value, tangent.defined() ? tangent * slope() : tangent};
}

/// Whether an exponent is a small whole number, the same everywhere.
bool is_whole(const Dual& e, double& value) {
  if (e.value.dim() != 0 || e.tangent.defined() || e.value.requires_grad()) return false;
  value = e.value.item<double>();
  return value == std::round(value) && std::abs(value) <= 8;
}

Tensor whole_power(const Tensor& x, int n) {
  if (n == 0) return torch::ones_like(x);
  if (n < 0) return whole_power(x, -n).reciprocal();
  Tensor power = x;
  for (int i = 1; i < n; ++i) power = power * x;
  return power;
}

Dual power(const Dual& a, const Dual& b) {
  double n = 0;
  if (is_whole(b, n)) {
    const int exponent = static_cast<int>(n);
    return chained(whole_power(a.value, exponent), a.tangent, [&] {
      return exponent == 0 ? torch::zeros_like(a.value) : whole_power(a.value, exponent - 1) * n;  // of 0 too
    });
  }
  const Tensor value = torch::pow(dense(a.value), dense(b.value));
  Tensor tangent = scaled(a.tangent, b.value * torch::pow(dense(a.value), dense(b.value - 1)));
  if (b.tangent.defined()) tangent = sum_of(tangent, b.tangent * value * torch::log(dense(a.value)));
  return {value, tangent};
}

/// `condition` ? a : b.
Dual selected(const Tensor& condition, const Dual& a, const Dual& b) {
  const auto pick = [&](const Tensor& x, const Tensor& y) { return torch::where(condition, x, y); };
  const Tensor value = pick(a.value, b.value);
  if (!a.tangent.defined() && !b.tangent.defined()) return {value};
  const auto or_zero = [](const Dual& d) { return d.tangent.defined() ? d.tangent : torch::zeros_like(d.value); };
  return {value, pick(or_zero(a), or_zero(b))};
}

using Unary = Dual (*)(const Dual&);

const std::map<std::string, Unary>& unary_operations() {
  static const std::map<std::string, Unary> table = {
      {"-", [](const Dual& a) { return -a; }},
      {"harmonic", [](const Dual& a) { return a; }},
      {"exp",
       [](const Dual& a) {
         const Tensor value = torch::exp(dense(a.value));
         return chained(value, a.tangent, [&] { return value; });
       }},
      {"log",
       [](const Dual& a) {
         return chained(torch::log(dense(a.value)), a.tangent, [&] { return a.value.reciprocal(); });
       }},
      {"sqrt",
       [](const Dual& a) {
         const Tensor value = torch::sqrt(dense(a.value));
         return chained(value, a.tangent, [&] { return 0.5 / value; });
       }},
      {"abs",
       [](const Dual& a) { return chained(torch::abs(a.value), a.tangent, [&] { return torch::sign(a.value); }); }},
      {"sin",
       [](const Dual& a) {
         return chained(torch::sin(dense(a.value)), a.tangent, [&] { return torch::cos(dense(a.value)); });
       }},
      {"cos",
       [](const Dual& a) {
         return chained(torch::cos(dense(a.value)), a.tangent, [&] { return -torch::sin(dense(a.value)); });
       }},
      {"tan",
       [](const Dual& a) {
         const Tensor value = torch::tan(dense(a.value));
         return chained(value, a.tangent, [&] { return 1 + value * value; });
       }},
      {"sinh",
       [](const Dual& a) {
         return chained(torch::sinh(dense(a.value)), a.tangent, [&] { return torch::cosh(dense(a.value)); });
       }},
      {"cosh",
       [](const Dual& a) {
         return chained(torch::cosh(dense(a.value)), a.tangent, [&] { return torch::sinh(dense(a.value)); });
       }},
      {"tanh",
       [](const Dual& a) {
         const Tensor value = torch::tanh(dense(a.value));
         return chained(value, a.tangent, [&] { return 1 - value * value; });
       }},
      {"sign", [](const Dual& a) { return Dual{torch::sign(a.value)}; }},
      {"step", [](const Dual& a) { return Dual{torch::ge(a.value, 0).to(a.value.scalar_type())}; }},
  };
  return table;
}

using Binary = Dual (*)(const Dual&, const Dual&);

const std::map<std::string, Binary>& binary_operations() {
  static const std::map<std::string, Binary> table = {
      {"+", [](const Dual& a, const Dual& b) { return a + b; }},
      {"-", [](const Dual& a, const Dual& b) { return a - b; }},
      {"*", [](const Dual& a, const Dual& b) { return a * b; }},
      {"/", [](const Dual& a, const Dual& b) { return a / b; }},
      {"^", power},
      {"<", [](const Dual& a, const Dual& b) { return Dual{torch::lt(a.value, b.value).to(a.value.scalar_type())}; }},
      {">", [](const Dual& a, const Dual& b) { return Dual{torch::gt(a.value, b.value).to(a.value.scalar_type())}; }},
      {"<=", [](const Dual& a, const Dual& b) { return Dual{torch::le(a.value, b.value).to(a.value.scalar_type())}; }},
      {">=", [](const Dual& a, const Dual& b) { return Dual{torch::ge(a.value, b.value).to(a.value.scalar_type())}; }},
      {"min", [](const Dual& a, const Dual& b) { return selected(torch::lt(a.value, b.value), a, b); }},
      {"max", [](const Dual& a, const Dual& b) { return selected(torch::gt(a.value, b.value), a, b); }},
  };
  return table;
}

}  // namespace

Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, sum_of(a.tangent, b.tangent)}; }

Dual operator-(const Dual& a, const Dual& b) {
  return {a.value - b.value, b.tangent.defined() ? sum_of(a.tangent, -b.tangent) : a.tangent};
}

Dual operator-(const Dual& a) { return {-a.value, a.tangent.defined() ? -a.tangent : a.tangent}; }

Dual operator*(const Dual& a, const Dual& b) {
  return {a.value * b.value, sum_of(scaled(a.tangent, b.value), scaled(b.tangent, a.value))};
}

Dual operator/(const Dual& a, const Dual& b) {
  const Tensor value = a.value / b.value;
  const Tensor top = b.tangent.defined() ? sum_of(a.tangent, -b.tangent * value) : a.tangent;
  return {value, top.defined() ? top / b.value : top};
}

Dual operator*(const Dual& a, double factor) {
  return {a.value * factor, a.tangent.defined() ? a.tangent * factor : a.tangent};
}

Dual apply_operation(const std::string& name, const std::vector<Dual>& arguments) {
  if (arguments.size() == 1) return unary_operations().at(name)(arguments[0]);
  if (arguments.size() == 2) return binary_operations().at(name)(arguments[0], arguments[1]);
  return selected(arguments[0].value != 0, arguments[1], arguments[2]);  // where
}

Dual harmonic_mean(const Dual& a, const Dual& b) {
  const Dual sum = a + b;
  const Tensor none = sum.value == 0;
  const Dual safe = {sum.value.masked_fill(none, 1), sum.tangent};
  return (a * b / safe) * 2;
}

Dual narrow(const Dual& x, int64_t dim, int64_t start, int64_t length) {
  const auto part = [&](const Tensor& t) {
    return !t.defined() || t.dim() < -dim || t.size(dim) == 1 ? t : t.narrow(dim, start, length);
  };
  return {part(x.value), part(x.tangent)};
}

Dual concatenate(const std::vector<Dual>& parts, int64_t dim) {
  const auto join = [&](const std::vector<Tensor>& tensors) {
    int64_t axes = 0;
    for (const auto& t : tensors) axes = std::max(axes, t.dim());
    std::vector<int64_t> size(static_cast<size_t>(axes), 1);
    const auto along = static_cast<size_t>(axes + dim);
    for (const auto& t : tensors)
      for (int64_t i = 1; i <= t.dim(); ++i) {
        auto& most = size[static_cast<size_t>(axes - i)];
        most = std::max(most, t.size(-i));
      }
    std::vector<Tensor> expanded;
    for (const auto& t : tensors) {
      size[along] = t.size(dim);
      expanded.push_back(t.expand(size));
    }
    return torch::cat(expanded, dim);
  };
  std::vector<Tensor> values, tangents;
  bool any = false;
  for (const auto& part : parts) {
    values.push_back(part.value);
    any = any || part.tangent.defined();
  }
  if (!any) return {join(values)};
  for (const auto& part : parts) {
    Tensor tangent = part.tangent.defined() ? part.tangent : torch::zeros_like(part.value);
    if (tangent.size(dim) != part.size(dim)) {
      auto size = tangent.sizes().vec();
      size[size.size() + static_cast<size_t>(dim)] = part.size(dim);
      tangent = tangent.expand(size);
    }
    tangents.push_back(tangent);
  }
  return {join(values), join(tangents)};
}

}  // namespace piddm
