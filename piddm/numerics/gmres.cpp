#include "piddm/numerics/gmres.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "piddm/core/error.h"

namespace piddm {
namespace {

using Flags = std::vector<char>;  // one for each sample

/// Over the last three axes, kept. Row sums first: short, so that the order of summation never depends on batch or
/// threads.
Tensor field_sum(const Tensor& x) { return x.sum(-1, true).sum(-2, true).sum(-3, true); }
Tensor field_norm(const Tensor& x) { return field_sum(x * x).sqrt(); }

bool any(const Flags& flags) {
  return std::any_of(flags.begin(), flags.end(), [](char flag) { return flag != 0; });
}

/// [B,1,1,1] on the device of `like`.
Tensor mask_like(const Flags& flags, const Tensor& like) {
  const auto count = static_cast<int64_t>(flags.size());
  const Tensor mask = torch::empty({count, 1, 1, 1}, torch::kBool);
  std::copy(flags.begin(), flags.end(), mask.data_ptr<bool>());
  return mask.to(like.device());
}

double epsilon_of(const Tensor& x) {
  return x.scalar_type() == torch::kFloat64 ? std::numeric_limits<double>::epsilon()
                                            : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Orthonormal fields of each sample, kept in blocks: memory grows with the number of steps that were needed.
class KrylovBasis {
 public:
  void add(const Tensor& v) {
    if (count_ % kBlock == 0) {
      auto shape = v.sizes().vec();
      shape.insert(shape.begin() + 1, kBlock);
      blocks_.push_back(torch::empty(shape, v.options()));
    }
    blocks_.back().select(1, count_++ % kBlock).copy_(v);
  }

  /// <v_j, w>, [B,n].
  Tensor products(const Tensor& w) const {
    std::vector<Tensor> parts;
    for (int64_t first = 0; first < count_; first += kBlock) {
      const Tensor part = blocks_[first / kBlock].narrow(1, 0, std::min(kBlock, count_ - first));
      parts.push_back(field_sum(part * w.unsqueeze(1)).flatten(1));
    }
    return torch::cat(parts, 1);
  }

  /// x + sum over j < columns of h of h_j v_j. Without fused operations, whose rounding depends on an entry's place in
  /// memory.
  Tensor combined(Tensor x, const Tensor& h) const {
    for (int64_t j = 0; j < h.size(1); ++j) {
      const Tensor factor = h.select(1, j).view({-1, 1, 1, 1});
      x = x + factor * blocks_[j / kBlock].select(1, j % kBlock);
    }
    return x;
  }

 private:
  static constexpr int64_t kBlock = 8;
  std::vector<Tensor> blocks_;  // [B,kBlock,C,H,W]
  int64_t count_ = 0;
};

/// min ||beta e_1 - H y|| of one sample: columns of the Hessenberg matrix H come one by one and are made triangular by
/// Givens rotations.
class HessenbergProblem {
 public:
  HessenbergProblem(double beta, double epsilon) : right_{beta}, residuals_{beta}, epsilon_(epsilon) {}

  double residual() const { return residuals_.back(); }

  /// Column j has j + 2 entries, the last at least 0. False: it adds nothing (or is not finite) and was left out.
  bool add(std::vector<double> column) {
    const size_t j = columns_.size();
    for (size_t i = 0; i < j; ++i) {
      const auto [c, s] = rotations_[i];
      const double upper = column[i];
      column[i] = c * upper + s * column[i + 1];
      column[i + 1] = c * column[i + 1] - s * upper;
    }
    const double pivot = std::hypot(column[j], column[j + 1]);
    largest_ = std::max(largest_, pivot);
    const bool finite = std::all_of(column.begin(), column.end(), [](double value) { return std::isfinite(value); });
    if (!finite || !(pivot > 10 * epsilon_ * largest_)) return false;
    const double c = column[j] / pivot, s = column[j + 1] / pivot;
    column[j] = pivot;
    column.pop_back();
    columns_.push_back(std::move(column));
    rotations_.emplace_back(c, s);
    right_.push_back(-s * right_[j]);
    right_[j] *= c;
    residuals_.push_back(std::abs(right_.back()));
    return true;
  }

  /// Of the first columns, as many as leave the least residual including the rounding of y: of a singular matrix the
  /// later ones only amplify that.
  std::vector<double> solution() const {
    std::vector<double> best;
    double least = residuals_[0];
    for (size_t count = 1; count <= columns_.size(); ++count) {
      std::vector<double> y = solution(count);
      const double size = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
      const double expected = residuals_[count] + epsilon_ * largest_ * size;
      if (!(expected < least)) continue;
      least = expected;
      best = std::move(y);
    }
    return best;
  }

 private:
  std::vector<double> solution(size_t count) const {
    std::vector<double> y(right_.begin(), right_.begin() + static_cast<int64_t>(count));
    for (size_t j = count; j-- > 0;) {
      y[j] /= columns_[j][j];
      for (size_t i = 0; i < j; ++i) y[i] -= columns_[j][i] * y[j];
    }
    return y;
  }

  std::vector<std::vector<double>> columns_;  // of the triangle
  std::vector<std::pair<double, double>> rotations_;
  std::vector<double> right_;      // rotated beta e_1
  std::vector<double> residuals_;  // after 0, 1, 2, ... columns
  double epsilon_, largest_ = 0;
};

struct GmresProblem {
  const LinearMap& a;
  const LinearMap& preconditioner;
  const GmresOptions& options;
  std::vector<double> targets;  // of the residual's norm, each sample
  double epsilon;
};

/// y of every problem, zeros after its last, as [B,steps] like r.
Tensor solutions(const std::vector<HessenbergProblem>& problems, int64_t steps, const Tensor& r) {
  const Tensor out = torch::zeros({r.size(0), steps}, torch::kFloat64);
  for (int64_t i = 0; i < r.size(0); ++i) {
    const auto y = problems[i].solution();
    std::copy(y.begin(), y.end(), out.data_ptr<double>() + i * steps);
  }
  return out.to(r.options());
}

/// One cycle on A d = r from d = 0 for the `open` samples: d, 0 for the others. Adds to `iterations`.
Tensor cycle(const GmresProblem& problem, const Tensor& r, Flags open, std::vector<int64_t>& iterations) {
  const Tensor size = field_norm(r), one = torch::ones_like(size), zero = torch::zeros_like(size);
  std::vector<HessenbergProblem> small;
  std::vector<double> targets = problem.targets;
  for (const double norm : to_vector(size.to(torch::kFloat64).flatten())) {
    targets[small.size()] = std::max(targets[small.size()], 4 * problem.epsilon * norm);
    small.emplace_back(norm, problem.epsilon);
  }
  KrylovBasis basis;
  Tensor v = r / torch::where(size > 0, size, one);
  int64_t steps = 0;
  while (steps < problem.options.restart && any(open)) {
    basis.add(v);
    Tensor w = problem.a(problem.preconditioner(v));
    const Tensor before = field_norm(w), first = basis.products(w);
    w = basis.combined(w, -first);
    const Tensor second = basis.products(w);
    w = basis.combined(w, -second);
    const Tensor length = field_norm(w);
    const Tensor sound = (length > 10 * problem.epsilon * before) & torch::isfinite(length);
    const Tensor norm = torch::where(sound, length, zero);
    v = torch::where(sound, w / torch::where(sound, length, one), torch::zeros_like(w));
    const std::vector<double> columns = to_vector(torch::cat({first + second, norm.flatten(1)}, 1).to(torch::kFloat64));
    ++steps;
    for (size_t i = 0; i < open.size(); ++i) {
      if (!open[i]) continue;
      const auto column = columns.begin() + static_cast<int64_t>(i) * (steps + 1);
      ++iterations[i];
      open[i] = small[i].add({column, column + steps + 1}) && small[i].residual() > targets[i] &&
                iterations[i] < problem.options.max_iterations;
    }
  }
  return problem.preconditioner(basis.combined(torch::zeros_like(r), solutions(small, steps, r)));
}

}  // namespace

GmresResult gmres(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b, const Tensor& start,
                  const GmresOptions& options) {
  require<DataError>(b.dim() == 4 && (!start.defined() || start.sizes() == b.sizes()),
                     "[gmres] right-hand side {} and start {} do not fit", shape_string(b), shape_string(start));
  require<UsageError>(options.restart >= 1 && options.max_iterations >= 0, "[gmres] restart = {}, max_iterations = {}",
                      options.restart, options.max_iterations);
  const torch::NoGradGuard no_grad;
  const Tensor b_norm = field_norm(b), scale = torch::where(b_norm != 0, b_norm, torch::ones_like(b_norm));
  GmresProblem problem{a, preconditioner, options, {}, epsilon_of(b)};
  for (const double norm : to_vector(scale.to(torch::kFloat64).flatten()))
    problem.targets.push_back(0.25 * options.tolerance * norm);
  Tensor x = start.defined() ? torch::where(b_norm != 0, start, torch::zeros_like(b)) : torch::zeros_like(b);
  Tensor r = start.defined() ? b - a(x) : b;
  const auto errors_of = [&](const Tensor& residual) {
    return to_vector((field_norm(residual) / scale).to(torch::kFloat64).flatten());
  };
  std::vector<double> errors = errors_of(r);
  std::vector<int64_t> iterations(errors.size(), 0);
  Flags active(errors.size()), better(errors.size());
  for (size_t i = 0; i < errors.size(); ++i) active[i] = errors[i] > options.tolerance && options.max_iterations > 0;
  while (any(active)) {
    const Tensor candidate = x + cycle(problem, r, active, iterations), candidate_r = b - a(candidate);
    const std::vector<double> candidate_errors = errors_of(candidate_r);
    for (size_t i = 0; i < errors.size(); ++i) {
      const double error = candidate_errors[i];
      better[i] = active[i] && error < errors[i];
      active[i] =
          active[i] && error > options.tolerance && error < 0.9 * errors[i] && iterations[i] < options.max_iterations;
      if (better[i]) errors[i] = error;
    }
    const Tensor mask = mask_like(better, b);
    x = torch::where(mask, candidate, x);
    r = torch::where(mask, candidate_r, r);
  }
  return {x, torch::tensor(iterations, torch::kInt64), torch::tensor(errors, torch::kFloat64)};
}

Tensor gmres_steps(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b, const Tensor& start,
                   int64_t iterations) {
  Tensor x = start, r = b - a(start);
  std::vector<Tensor> directions, images;  // z_i and A z_i, the images orthogonal
  std::vector<Tensor> lengths;             // <A z_i, A z_i>, 1 where that is 0
  for (int64_t i = 0; i < iterations; ++i) {
    Tensor z = preconditioner(r), az = a(z);
    for (size_t j = 0; j < directions.size(); ++j) {
      const Tensor share = field_sum(az * images[j]) / lengths[j];
      z = torch::addcmul(z, share, directions[j], -1);
      az = torch::addcmul(az, share, images[j], -1);
    }
    const Tensor square = field_sum(az * az);
    lengths.push_back(torch::where(square != 0, square, torch::ones_like(square)));
    const Tensor step = field_sum(r * az) / lengths.back();
    x = torch::addcmul(x, step, z);
    r = torch::addcmul(r, step, az, -1);
    directions.push_back(z);
    images.push_back(az);
  }
  return x;
}

}  // namespace piddm
