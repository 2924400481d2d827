#include "piddm/solve/data_fit.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr double kUnusual = 10;  // standard deviations
constexpr double kUnlikely = 1e-6;

double p_value(double chi2, int64_t n) {
  const auto half = [](double x) { return torch::tensor(0.5 * x, torch::kFloat64); };
  return n == 0 ? 1 : torch::special_gammaincc(half(static_cast<double>(n)), half(chi2)).item<double>();
}

/// Known entries; of scalar channels one per sample.
Tensor known_entries(const Observation& observation, const Pde& pde) {
  auto known = (observation.mask > 0).to(torch::kCPU);
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    if (!pde.channels()[static_cast<size_t>(c)].scalar) continue;
    auto rest = torch::ones_like(known.select(1, c));
    rest.select(1, 0).select(1, 0).fill_(false);
    known.select(1, c).logical_and_(rest.logical_not());
  }
  return known.nonzero();
}

void add_entries(std::vector<SensorFit>& out, const Observation& observation, const Tensor& x, const Pde& pde) {
  const auto at = known_entries(observation, pde);
  const auto picked = [&](const Tensor& field) {
    const auto flat = field.to(torch::kCPU, torch::kFloat64);
    return to_vector(flat.index({at.select(1, 0), at.select(1, 1), at.select(1, 2), at.select(1, 3)}));
  };
  const auto value = picked(observation.values), answer = picked(x);
  const auto sigma = observation.sigma.defined() ? picked(observation.sigma) : std::vector<double>(value.size(), 0.0);
  const auto place = at.accessor<int64_t, 2>();
  for (int64_t k = 0; k < at.size(0); ++k) {
    const auto n = static_cast<size_t>(k);
    out.push_back({place[k][0], place[k][1], static_cast<double>(place[k][2]), static_cast<double>(place[k][3]),
                   value[n], sigma[n], answer[n]});
  }
}

void add_functionals(std::vector<SensorFit>& out, const Functionals& f, const Tensor& x) {
  if (f.empty()) return;
  const auto answer = to_vector(f.apply(x.to(torch::kCPU, torch::kFloat64)));
  const auto value = to_vector(f.value), sigma = to_vector(f.sigma);
  const auto size = f.weight.abs(), place = f.entry.remainder(x.size(2) * x.size(3));
  const auto middle = [&](const Tensor& coordinate) {
    const auto sum = [&](const Tensor& y) { return torch::zeros_like(f.value).index_add(0, f.row, y); };
    return to_vector(sum(size * coordinate) / sum(size));
  };
  const auto i = middle(place.div(x.size(3), "floor")), j = middle(place.remainder(x.size(3)));
  for (int64_t m = 0; m < f.size(); ++m) {
    const auto n = static_cast<size_t>(m);
    out.push_back(
        {f.sample[m].item<int64_t>(), f.channel[m].item<int64_t>(), i[n], j[n], value[n], sigma[n], answer[n]});
  }
}

}  // namespace

std::vector<SensorFit> sensor_fits(const Observation& observation, const Tensor& x, const Pde& pde) {
  pde.check_shape(x);
  std::vector<SensorFit> out;
  add_entries(out, observation, x, pde);
  add_functionals(out, observation.functionals, x);
  return out;
}

std::vector<CaseFit> case_fits(const std::vector<SensorFit>& sensors, int64_t n) {
  std::vector<CaseFit> cases(static_cast<size_t>(n));
  for (const auto& sensor : sensors) {
    if (sensor.sigma == 0) continue;
    auto& one = cases.at(static_cast<size_t>(sensor.sample));
    one.chi2 += sensor.chi2();
    ++one.noisy_values;
  }
  for (auto& one : cases) one.p_value = p_value(one.chi2, one.noisy_values);
  return cases;
}

CaseFit total_fit(const std::vector<CaseFit>& cases) {
  CaseFit total;
  for (const auto& one : cases) {
    total.chi2 += one.chi2;
    total.noisy_values += one.noisy_values;
  }
  total.p_value = p_value(total.chi2, total.noisy_values);
  return total;
}

std::vector<std::string> unusual_values(const Observation& observation, const Normalizer& normalizer, const Pde& pde) {
  std::vector<std::string> out;
  const auto functionals = observation.functionals.to_network(normalizer);
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& name = pde.channels()[static_cast<size_t>(c)].name;
    const auto z = observation.mask.select(1, c).to(torch::kFloat64) *
                   (observation.values.select(1, c).to(torch::kFloat64) - normalizer.mean(c)) / normalizer.std(c);
    if (const double worst = z.abs().max().item<double>(); worst > kUnusual) {
      const auto at = z.flatten()[z.abs().argmax().item<int64_t>()].item<double>();
      out.push_back(
          fmt::format("{0} = {1:.4g} was observed, {2:.0f} standard deviations from the mean {3:.4g} of {0} in "
                      "the training data: the answer means little",
                      name, normalizer.mean(c) + at * normalizer.std(c), worst, normalizer.mean(c)));
    }
    if (functionals.empty()) continue;
    const auto of_channel = (functionals.channel == c).to(torch::kFloat64);
    const auto from_zero = observation.functionals.value / (functionals.gain * normalizer.scale(c));
    const auto distance = of_channel * torch::minimum(functionals.value.abs(), from_zero.abs());
    if (const double worst = distance.max().item<double>(); worst > kUnusual)
      out.push_back(
          fmt::format("{}: a value between entries, an average or a flux of {:.4g} was observed, {:.0f} standard "
                      "deviations of the training data away: the answer means little",
                      name, observation.functionals.value[distance.argmax().item<int64_t>()].item<double>(), worst));
  }
  return out;
}

std::vector<std::string> poor_fits(const std::vector<CaseFit>& fits) {
  int64_t poor = 0;
  size_t worst = 0;
  for (size_t i = 0; i < fits.size(); ++i) {
    if (fits[i].p_value < kUnlikely) ++poor;
    if (fits[i].p_value < fits[worst].p_value) worst = i;
  }
  if (poor == 0) return {};
  return {
      fmt::format("the answer misses the data by more than their noise: case {} has chi^2 = {:.4g} over {} noisy "
                  "values{}; the sigmas may be too small, or the data not of this model's law",
                  worst, fits[worst].chi2, fits[worst].noisy_values,
                  poor > 1 ? fmt::format(" ({} cases of {} are like it)", poor, fits.size()) : "")};
}

}  // namespace piddm
