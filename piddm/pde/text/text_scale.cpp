// The unit of the residual of a PDE by text: the rule is in text_pde.h.

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "piddm/numerics/gmres.h"
#include "piddm/pde/text/text_pde.h"

namespace piddm {
namespace {

constexpr int64_t kSamples = 8, kCoarse = 32;
constexpr double kUnit = 10;     // R of white noise of one standard deviation
constexpr double kNoise = 1e-6;  // of a standard deviation
constexpr double kFlat = 1e-9;   // a smaller standard deviation is that of a constant
constexpr size_t kKept = 256;

/// Two significant digits.
double rounded(double value) { return std::stod(fmt::format("{:.1e}", value)); }

double rms_of(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// Where the same PDE has been measured before in this process.
template <class T>
std::shared_ptr<const T> kept_under(const std::string& key, const std::function<T()>& measure) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const T>> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const auto made = std::make_shared<const T>(measure());
  const std::lock_guard lock(mutex);
  if (known.size() >= kKept) known.clear();
  known[key] = made;
  return made;
}

/// A wave of size 1, where no solution is known: [N,C,H,W].
Tensor wave(int64_t count, int64_t channels, const GridSize& grid) {
  const auto share = [](int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n); };
  const Tensor i = torch::arange(count, torch::kFloat64).view({-1, 1, 1, 1});
  const Tensor x = share(grid.height()).view({1, 1, -1, 1}), y = share(grid.width()).view({1, 1, 1, -1});
  const Tensor field = std::numbers::sqrt2 * torch::cos(2 * std::numbers::pi * (x + y) + i);
  return field.expand({count, channels, grid.height(), grid.width()}).contiguous();
}

}  // namespace

/// Of the law; without one the middle of what is valid, or 1: [N,C_a,H,W].
Tensor TextPde::typical_coefficients() const {
  if (has_law()) return sample_coefficients(0, 0, kSamples);
  const int64_t first = num_solution_channels();
  const Tensor a = torch::ones({1, num_channels() - first, grid().height(), grid().width()}, torch::kFloat64);
  for (int64_t c = first; c < num_channels(); ++c) {
    const auto& valid = channels_[static_cast<size_t>(c)].valid;
    if (valid && std::isfinite(valid->second)) a.select(1, c - first).fill_((valid->first + valid->second) / 2);
  }
  return a;
}

/// Solutions for these coefficients from a coarse grid, [N,C_u,H,W], and the size of each field.
Tensor TextPde::typical_solution(const Tensor& coefficients, std::vector<double>& sizes) const {
  const int64_t count = coefficients.size(0), fields = system().fields();
  const int64_t channels = num_solution_channels() / fields;  // of a field
  bool said = true;
  for (const auto& field : text_.solutions) said = said && field.scale > 0;
  Tensor u;
  if (said || !has_law()) {
    u = wave(count, num_solution_channels(), grid());
  } else {
    auto options = this->options();
    options.grid = {std::min(grid().height(), kCoarse), std::min(grid().width(), kCoarse)};
    const TextPde coarse(options);
    u = coarse.solve(coarse.sample_coefficients(0, 0, count));
    if (options.grid != grid())
      u = torch::upsample_bilinear2d(u, {grid().height(), grid().width()}, /*align_corners=*/true);
  }
  sizes.clear();
  for (int64_t f = 0; f < fields; ++f) {
    const Tensor field = u.narrow(1, f * channels, channels);
    double size = rms_of(field - field.mean());
    if (size <= kFlat * rms_of(field)) size = rms_of(field);
    if (size == 0) size = 1;
    if (const double stated = text_.solutions[static_cast<size_t>(f)].scale; stated > 0) {
      if (said || !has_law()) field.mul_(stated);
      size = stated;
    }
    sizes.push_back(size);
  }
  return u;
}

TextPde::Scale TextPde::measured_scale() const {
  const torch::NoGradGuard no_grad;
  Scale out;
  const Tensor given = typical_coefficients(), a = system_coefficients(given);
  const Tensor u = typical_solution(given, out.sizes);
  Tensor noise = normal(0, Stream::noise, 0, u.size(0), {u.size(1), u.size(2), u.size(3)}, torch::kFloat64);
  const int64_t channels = u.size(1) / system().fields();
  for (int64_t c = 0; c < u.size(1); ++c)
    noise.select(1, c).mul_(kNoise * out.sizes[static_cast<size_t>(c / channels)]);
  const auto clean = system().rows(system_solution(u, a), a).residual;
  const auto noisy = system().rows(system_solution(u + noise, a), a).residual;
  for (size_t e = 0; e < clean.size(); ++e) {
    const double size = rms_of(picture(noisy[e] - clean[e], e)) / kNoise;
    require<UsageError>(std::isfinite(size) && size > 0,
                        "[{}] noise on the solution changes the equation of {} by {}: no unit can be chosen for its "
                        "residual",
                        name(), text_.solutions[e].name, size);
    out.c.push_back(rounded(kUnit / size));
  }
  return out;
}

const TextPde::Scale& TextPde::scale() const {
  if (!scale_) {
    auto options = this->options();
    options.parameters = json::object();
    scale_ = kept_under<Scale>(options.grid.text() + options.definition.table.dump(), [&] {
      return this->options().parameters.empty() ? measured_scale() : TextPde(options).measured_scale();
    });
  }
  return *scale_;
}

std::vector<double> TextPde::sizes() const { return scale().sizes; }

std::vector<Equation> TextPde::equations() const {
  std::vector<Equation> out;
  for (size_t e = 0; e < text_.equations.size(); ++e)
    out.push_back({.scale = scale().c[e], .name = text_.equations[e].name});
  return out;
}

// --- the operator of a steady problem ---

TextPde::Operator TextPde::measured_operator() const {
  const torch::NoGradGuard no_grad;
  const auto& grid = system().grid();
  if (timed_ || system().fields() > 1 || !system().has_table()) return {};
  for (size_t a = 0; a < 2; ++a) {  // half a cell at a node makes rows asymmetric
    const auto& field = text_.solutions[0].name;
    if (grid.axes()[a].kind != AxisText::Kind::nodes) continue;
    if (!grid.is_ring(field, a, false) || !grid.is_ring(field, a, true)) return {};
  }
  const Tensor given = typical_coefficients(), a = system_coefficients(given);
  std::vector<double> sizes;
  const Tensor u = system().linear()
                       ? torch::zeros({given.size(0), 1, this->grid().height(), this->grid().width()}, torch::kFloat64)
                       : typical_solution(given, sizes);
  const Tensor entries = system().jacobian(u, {}, a, 0);
  const Tensor inverse = solver_.inverse_eigenvalues(entries.mean(0, true)).front();
  const bool one_sign = (inverse > 0).all().item<bool>() || (inverse < 0).all().item<bool>();
  if (!one_sign || !all_finite(inverse)) return {};
  const Tensor v = normal(0, Stream::noise, 0, entries.size(0), {1, u.size(2), u.size(3)}, torch::kFloat64);
  const auto& pattern = system().pattern();
  const Tensor forward = stencil_product(pattern, entries, v), backward = stencil_transposed(pattern, entries, v);
  return {inverse, rms_of(forward - backward) <= 1e-10 * rms_of(forward)};
}

const TextPde::Operator& TextPde::own_operator() const {
  if (!operator_)
    operator_ =
        kept_under<Operator>(options().grid.text() + options().definition.table.dump() + options().parameters.dump(),
                             [&] { return measured_operator(); });
  return *operator_;
}

bool TextPde::has_preconditioner() const { return own_operator().inverse_eigenvalues.defined(); }

Tensor TextPde::precondition(const Residual& residual) const {
  if (!has_preconditioner()) return Pde::precondition(residual);
  const Tensor& r = residual.fields.front().interior;
  const auto [x, h] = system().scored(0, 0);
  const auto [y, w] = system().scored(0, 1);
  require<DataError>(r.dim() == 4 && r.size(1) == 1 && r.size(2) == h && r.size(3) == w,
                     "[{}] precondition: expected (B,1,{},{}), got {}", name(), h, w, shape_string(r));
  const Tensor whole = torch::constant_pad_nd(r, {y, grid().width() - w - y, x, grid().height() - h - x});
  const auto solver = solver_.separable(0).to(r.scalar_type(), r.device());
  const Tensor inverse = own_operator().inverse_eigenvalues.to(r.options().requires_grad(false));
  return solver.solve(whole, inverse).narrow(2, x, h).narrow(3, y, w);
}

bool TextPde::has_corrector() const { return system().order() == 0 && system().linear() && has_preconditioner(); }

/// J d = -r from d = 0, J for the sample's own coefficients.
Tensor TextPde::correct(const Tensor& x, int64_t iterations) const {
  if (!has_corrector()) return Pde::correct(x, iterations);
  check_residual_input(x);
  std::vector<Tensor> sound;
  for (int64_t c = num_solution_channels(); c < num_channels(); ++c) {
    const auto& valid = channels_[static_cast<size_t>(c)].valid;
    sound.push_back(valid ? x.narrow(1, c, 1).clamp(valid->first, valid->second) : x.narrow(1, c, 1));
  }
  const Tensor a = system_coefficients(torch::cat(sound, 1));
  const Tensor u = imposed(solution(x).unsqueeze(2), a).squeeze(2), r = system().row(u, {}, a, 0);
  const Tensor entries = system().jacobian(u.detach(), {}, a, 0);
  const Tensor inverse = own_operator().inverse_eigenvalues.to(x.options().requires_grad(false));
  const double sign = own_operator().inverse_eigenvalues.sum().item<double>() > 0 ? 1 : -1;
  const auto solver = solver_.separable(0).to(x.scalar_type(), x.device());
  const auto product = [&](const Tensor& v) { return stencil_product(system().pattern(), entries, v) * sign; };
  const auto fast = [&](const Tensor& v) { return solver.solve(v, inverse) * sign; };
  const auto steps = own_operator().symmetric ? conjugate_gradient_steps : gmres_steps;
  const Tensor d = steps(product, fast, r * -sign, torch::zeros_like(r), iterations);
  return torch::cat({u + d, coefficients(x)}, 1);
}

}  // namespace piddm
