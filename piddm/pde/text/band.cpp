#include "piddm/pde/text/band.h"

#include <ATen/Parallel.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

namespace piddm {

/// Rows row .. row+count-1; each sees the columns of the one before, moved on by one.
struct BandRun {
  enum class Form { difference, second_difference, mean, any };
  int64_t row, count;
  std::vector<int64_t> columns;
  std::vector<double> weights;
  double constant;
  Form form;
};

namespace {

using Run = BandRun;

Run::Form form_of(const std::vector<double>& w, double constant) {
  if (constant != 0) return Run::Form::any;
  if (w.size() == 2 && w[0] == -w[1]) return Run::Form::difference;
  if (w.size() == 2 && w[0] == w[1]) return Run::Form::mean;
  if (w.size() == 3 && w[0] == w[2] && w[1] == -2 * w[0]) return Run::Form::second_difference;
  return Run::Form::any;
}

std::vector<Run> runs_of(const std::vector<BandRow>& rows) {
  std::vector<Run> runs;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::map<int64_t, double> sorted;
    for (const auto& [column, weight] : rows[r].entries) sorted[column] += weight;
    std::vector<int64_t> columns;
    std::vector<double> weights;
    for (const auto& [column, weight] : sorted)
      if (weight != 0) columns.push_back(column), weights.push_back(weight);
    const auto follows = [&](const Run& last) {
      if (last.weights != weights || last.constant != rows[r].constant) return false;
      for (size_t k = 0; k < columns.size(); ++k)
        if (columns[k] != last.columns[k] + last.count) return false;
      return true;
    };
    if (!runs.empty() && follows(runs.back()))
      ++runs.back().count;
    else
      runs.push_back(
          {static_cast<int64_t>(r), 1, columns, weights, rows[r].constant, form_of(weights, rows[r].constant)});
  }
  return runs;
}

template <class T>
void compute_run(const Run& run, const T* x, T* out, int64_t inner, bool constants) {
  const int64_t n = run.count * inner;
  const auto term = [&](size_t k) { return x + run.columns[k] * inner; };
  out += run.row * inner;
  if (run.form == Run::Form::difference) {
    const T *a = term(0), *b = term(1);
    const T w = static_cast<T>(run.weights[1]);
    for (int64_t j = 0; j < n; ++j) out[j] = (b[j] - a[j]) * w;
  } else if (run.form == Run::Form::mean) {
    const T *a = term(0), *b = term(1);
    const T w = static_cast<T>(run.weights[1]);
    for (int64_t j = 0; j < n; ++j) out[j] = (a[j] + b[j]) * w;
  } else if (run.form == Run::Form::second_difference) {
    const T *a = term(0), *b = term(1), *c = term(2);
    const T w = static_cast<T>(run.weights[0]);
    for (int64_t j = 0; j < n; ++j) out[j] = ((c[j] - b[j]) - (b[j] - a[j])) * w;
  } else if (run.weights.size() == 1 && run.constant == 0) {
    const T* const a = term(0);
    const T w = static_cast<T>(run.weights[0]);
    for (int64_t j = 0; j < n; ++j) out[j] = a[j] * w;
  } else if (run.weights.size() == 3) {
    const T *a = term(0), *b = term(1), *c = term(2);
    const double u = run.weights[0], v = run.weights[1], w = run.weights[2], d = constants ? run.constant : 0;
    for (int64_t j = 0; j < n; ++j) out[j] = static_cast<T>(u * a[j] + v * b[j] + w * c[j] + d);
  } else {
    for (int64_t j = 0; j < n; ++j) {
      double sum = constants ? run.constant : 0;
      for (size_t k = 0; k < run.weights.size(); ++k) sum += run.weights[k] * term(k)[j];
      out[j] = static_cast<T>(sum);
    }
  }
}

bool has_kernel(const Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kFloat64);
}

/// Whether the axes from `axis` on lie densely in memory.
bool is_dense_from(const Tensor& x, int64_t axis) {
  int64_t stride = 1;
  for (int64_t i = x.dim() - 1; i >= axis; --i) {
    if (x.size(i) != 1 && x.stride(i) != stride) return false;
    stride *= x.size(i);
  }
  return true;
}

/// The axes by how far apart their entries lie, those of one entry first.
std::vector<int64_t> memory_order(const Tensor& x) {
  std::vector<int64_t> order(static_cast<size_t>(x.dim()));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto distance = [&](int64_t i) {
    return x.size(i) == 1 || x.stride(i) == 0 ? std::numeric_limits<int64_t>::max() : x.stride(i);
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return distance(a) > distance(b); });
  return order;
}

/// Where each block of the axes before `axis` begins.
std::vector<int64_t> block_offsets(const Tensor& x, int64_t axis) {
  std::vector<int64_t> offsets = {0};
  for (int64_t i = 0; i < axis; ++i) {
    std::vector<int64_t> more;
    more.reserve(offsets.size() * static_cast<size_t>(x.size(i)));
    for (const int64_t offset : offsets)
      for (int64_t j = 0; j < x.size(i); ++j) more.push_back(offset + j * x.stride(i));
    offsets = std::move(more);
  }
  return offsets;
}

}  // namespace

struct Band::Matrix {
  Matrix(int64_t columns_in, std::vector<BandRow> rows_in)
      : columns(columns_in), rows(std::move(rows_in)), runs(runs_of(rows)) {}

  int64_t columns;
  std::vector<BandRow> rows;
  std::vector<BandRun> runs;

  /// Made when it is first asked for.
  const Band& transposed() const {
    std::call_once(once_, [&] {
      std::vector<BandRow> across(static_cast<size_t>(columns));
      for (size_t r = 0; r < rows.size(); ++r)
        for (const auto& [column, weight] : rows[r].entries)
          across[static_cast<size_t>(column)].entries.emplace_back(static_cast<int64_t>(r), weight);
      transposed_ = std::make_shared<const Band>(static_cast<int64_t>(rows.size()), std::move(across));
    });
    return *transposed_;
  }

  template <class T>
  void compute(const Tensor& x, const Tensor& out, int64_t axis, bool constants) const {
    int64_t inner = 1;
    for (int64_t i = axis + 1; i < x.dim(); ++i) inner *= x.size(i);
    const auto offsets = block_offsets(x, axis);
    const int64_t block = out.size(axis) * inner;
    const T* const from = x.data_ptr<T>();
    T* const to = out.data_ptr<T>();
    constexpr int64_t kGrain = 32768;
    at::parallel_for(0, static_cast<int64_t>(offsets.size()),
                     std::max<int64_t>(1, kGrain / std::max<int64_t>(1, block)), [&](int64_t begin, int64_t end) {
                       for (int64_t o = begin; o < end; ++o)
                         for (const auto& run : runs)
                           compute_run(run, from + offsets[static_cast<size_t>(o)], to + o * block, inner, constants);
                     });
  }

  /// Keeps the order in which the axes lie in memory.
  Tensor apply(const Tensor& given, int64_t dim, bool constants) const {
    const auto order = memory_order(given);
    const auto axis = std::find(order.begin(), order.end(), given.dim() + dim) - order.begin();
    Tensor x = given.permute(order);
    if (!is_dense_from(x, axis)) x = x.contiguous();
    auto size = x.sizes().vec();
    size[static_cast<size_t>(axis)] = static_cast<int64_t>(rows.size());
    const Tensor out = torch::empty(size, x.options().requires_grad(false));
    if (x.scalar_type() == torch::kFloat32)
      compute<float>(x, out, axis, constants);
    else
      compute<double>(x, out, axis, constants);
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return out.permute(back);
  }

 private:
  mutable std::once_flag once_;
  mutable std::shared_ptr<const Band> transposed_;
};

namespace {

struct MatrixHolder : torch::CustomClassHolder {
  explicit MatrixHolder(std::shared_ptr<const Band::Matrix> held) : matrix(std::move(held)) {}
  std::shared_ptr<const Band::Matrix> matrix;
};

struct BandFunction : torch::autograd::Function<BandFunction> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const std::shared_ptr<const Band::Matrix>& matrix, int64_t dim, bool constants) {
    context->saved_data["matrix"] = c10::IValue::make_capsule(c10::make_intrusive<MatrixHolder>(matrix));
    context->saved_data["dim"] = dim;
    return matrix->apply(x, dim, constants);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto holder = context->saved_data["matrix"].toCapsule();
    const auto& matrix = *static_cast<const MatrixHolder&>(*holder).matrix;
    return {matrix.transposed()(gradients[0], context->saved_data["dim"].toInt()), {}, {}, {}};
  }
};

}  // namespace

Band::Band(int64_t columns, std::vector<BandRow> rows)
    : matrix_(std::make_shared<const Matrix>(columns, std::move(rows))) {}

int64_t Band::rows() const { return static_cast<int64_t>(matrix_->rows.size()); }

int64_t Band::columns() const { return matrix_->columns; }

Tensor Band::operator()(const Tensor& x, int64_t dim, bool constants) const {
  TORCH_CHECK(x.size(dim) == columns(), "a band of ", columns(), " columns for ", x.size(dim), " entries");
  if (!has_kernel(x)) return composed(x, dim, constants);
  if (!torch::GradMode::is_enabled() || !x.requires_grad()) return matrix_->apply(x, dim, constants);
  return BandFunction::apply(x, matrix_, dim, constants);
}

Tensor Band::composed(const Tensor& x, int64_t dim, bool constants) const {
  std::vector<Tensor> parts;
  for (const auto& run : matrix_->runs) {
    const auto term = [&](size_t k) { return x.narrow(dim, run.columns[k], run.count); };
    const auto& w = run.weights;
    Tensor sum;
    if (run.form == Run::Form::difference) {
      sum = (term(1) - term(0)) * w[1];
    } else if (run.form == Run::Form::second_difference) {
      sum = ((term(2) - term(1)) - (term(1) - term(0))) * w[0];
    } else if (w.empty()) {
      sum = torch::zeros_like(x.narrow(dim, 0, 1));
    } else {
      for (size_t k = 0; k < w.size(); ++k) sum = k == 0 ? term(0) * w[0] : sum + term(k) * w[k];
    }
    parts.push_back(constants && run.constant != 0 ? sum + run.constant : sum);
  }
  return parts.size() == 1 ? parts[0] : torch::cat(parts, dim);
}

Band Band::after(const Band& other) const {
  std::vector<BandRow> rows;
  for (const auto& row : matrix_->rows) {
    BandRow out{.constant = row.constant};
    for (const auto& [middle, weight] : row.entries) {
      const auto& inner = other.matrix_->rows[static_cast<size_t>(middle)];
      out.constant += weight * inner.constant;
      for (const auto& [column, factor] : inner.entries) out.entries.emplace_back(column, weight * factor);
    }
    rows.push_back(std::move(out));
  }
  return {other.columns(), std::move(rows)};
}

Band Band::shifting(int64_t columns, int64_t rows, int64_t offset, const std::vector<double>& weights, bool ring) {
  std::vector<BandRow> all;
  for (int64_t r = 0; r < rows; ++r) {
    BandRow row;
    for (size_t k = 0; k < weights.size(); ++k) {
      const int64_t column = r + offset + static_cast<int64_t>(k);
      row.entries.emplace_back(ring ? (column % columns + columns) % columns : column, weights[k]);
    }
    all.push_back(std::move(row));
  }
  return {columns, std::move(all)};
}

Band Band::between(const BandRow& first, const BandRow& last) const {
  std::vector<BandRow> rows = {first};
  rows.insert(rows.end(), matrix_->rows.begin(), matrix_->rows.end());
  rows.push_back(last);
  return {columns(), std::move(rows)};
}

}  // namespace piddm
