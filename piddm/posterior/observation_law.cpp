#include "piddm/posterior/observation_law.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr double kGivenAway = 0.8, kScalarKnown = 0.25;

/// Uniforms of one number per sample, [B,1,1], taken one after the other.
class Coins {
 public:
  explicit Coins(Tensor uniforms) : uniforms_(std::move(uniforms)) {}
  Tensor next() { return uniforms_.select(1, next_++).view({-1, 1, 1}); }

 private:
  Tensor uniforms_;  ///< [B,n]
  int64_t next_ = 0;
};

constexpr int64_t kCoinsOfCase = 4, kCoinsOfChannel = 7;

struct Kind {
  Tensor forward, inverse, reconstruct;  ///< bool [B,1,1]
};

Kind kind_of(const ObservationLaw& law, const Tensor& coin) {
  const auto at = coin * (law.forward + law.inverse + law.reconstruct + law.nothing);
  const double inverse = law.forward, reconstruct = inverse + law.inverse, nothing = reconstruct + law.reconstruct;
  return {at < inverse, (at >= inverse).logical_and(at < reconstruct), (at >= reconstruct).logical_and(at < nothing)};
}

/// exp of a uniform between log low and log high.
Tensor log_uniform(const Tensor& coin, double low, double high) {
  return (std::log(low) + coin * (std::log(high) - std::log(low))).exp();
}

/// n [B,1,1] random points of each field: those of the n smallest of `order` [B,H,W].
Tensor random_points(const Tensor& order, const Tensor& n) {
  const auto flat = order.flatten(1);
  const auto places = std::get<1>(flat.sort(/*stable=*/true, 1, /*descending=*/false));
  const auto chosen = torch::arange(flat.size(1), places.options()).unsqueeze(0) < n.view({-1, 1});
  return torch::zeros_like(chosen).scatter(1, places, chosen).view(order.sizes());
}

/// One of: a row, a column, the first column (the initial state of a problem in time), the outer ring.
Tensor random_trace(const Tensor& which, const Tensor& where, int64_t height, int64_t width) {
  const auto i = torch::arange(height, where.options()).view({1, -1, 1}),
             j = torch::arange(width, where.options()).view({1, 1, -1});
  const auto row = (i == (where * height).floor()).logical_and(j >= 0);
  const auto column = (j == (where * width).floor()).logical_and(i >= 0);
  const auto start = (j == 0).logical_and(i >= 0).expand_as(row);
  const auto ring = (i == 0).logical_or(i == height - 1).logical_or(j == 0).logical_or(j == width - 1).expand_as(row);
  return torch::where(which < 0.25, row, torch::where(which < 0.5, column, torch::where(which < 0.75, start, ring)));
}

/// Entries of a field that is observed, bool [B,H,W].
Tensor entries_of_field(const ObservationLaw& law, const Kind& kind, const Tensor& order, Coins& coins) {
  const int64_t height = order.size(1), width = order.size(2), most = std::min(law.most, height * width);
  const auto whole = (coins.next() < law.whole).logical_and(kind.reconstruct.logical_not());
  const auto n =
      log_uniform(coins.next(), static_cast<double>(std::min(law.fewest, most)), static_cast<double>(most) + 0.999)
          .floor();
  const auto traced = coins.next() < law.trace, alone = coins.next() < 0.5;
  const auto which = coins.next(), where = coins.next();
  const auto points = random_points(order, n).logical_and(traced.logical_and(alone).logical_not());
  return whole.logical_or(points).logical_or(traced.logical_and(random_trace(which, where, height, width)));
}

/// Known entries [B,C,H,W] and those among them that stay exact whatever the noise; bool.
struct Known {
  Tensor all, noiseless;
};

Known known_entries(const ObservationLaw& law, const Pde& pde, const Tensor& order, Coins& coins) {
  const auto kind = kind_of(law, coins.next());
  const auto given_away = coins.next() < kGivenAway;
  const auto boundary = pde.given_boundary().to(order.device());
  const auto nothing = torch::zeros_like(order.select(1, 0), torch::kBool);
  std::vector<Tensor> all, noiseless;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    const bool solution = channel.role == Role::solution;
    auto asked = kind.reconstruct.logical_or(solution ? kind.inverse : kind.forward);
    if (channel.given_in_inverse) asked = asked.logical_or(kind.inverse.logical_and(given_away));
    if (channel.scalar) {
      const auto observed = kind.forward.logical_or(kind.inverse).logical_or(kind.reconstruct);
      const auto by_chance = observed.logical_and(coins.next() < kScalarKnown);
      all.push_back(nothing.logical_or(asked.logical_and(kind.reconstruct.logical_not()).logical_or(by_chance)));
      noiseless.push_back(all.back());
      continue;
    }
    const auto entries = entries_of_field(law, kind, order.select(1, c), coins).logical_and(asked);
    noiseless.push_back(solution ? boundary[c].logical_and(kind.forward.logical_and(given_away)) : nothing);
    all.push_back(entries.logical_or(noiseless.back()));
  }
  return {torch::stack(all, 1), torch::stack(noiseless, 1)};
}

}  // namespace

void check_law(const ObservationLaw& law, const std::string& path) {
  check_bounds(law, path);
  require<UsageError>(law.forward + law.inverse + law.reconstruct + law.nothing > 0,
                      "{}: give forward, inverse, reconstruct or nothing a frequency above 0", path);
  require<UsageError>(law.fewest <= law.most, "{}.fewest: must be at most {}.most = {}, got {}", path, path, law.most,
                      law.fewest);
  require<UsageError>(law.low_noise <= law.high_noise, "{}.low_noise: must be at most {}.high_noise = {}, got {}", path,
                      path, law.high_noise, law.low_noise);
}

Target random_observations(const ObservationLaw& law, const Pde& pde, const Tensor& z, uint64_t seed, int64_t first) {
  const int64_t batch = z.size(0), coins_in_all = kCoinsOfCase + kCoinsOfChannel * z.size(1);
  const auto u =
      uniform(seed, Stream::observations, first, batch, {coins_in_all + z[0].numel()}, torch::kFloat32, z.device());
  Coins coins(u.narrow(1, 0, coins_in_all));
  const auto silent = coins.next() < law.exact;
  const auto level = log_uniform(coins.next(), law.low_noise, law.high_noise);
  const auto known = known_entries(law, pde, u.narrow(1, coins_in_all, z[0].numel()).reshape(z.sizes()), coins);
  const auto noisy = known.all.logical_and(known.noiseless.logical_not());
  const auto zero = torch::zeros({}, z.options());
  Target out;
  out.mask = known.all.to(z.scalar_type());
  out.sigma = torch::where(noisy, torch::where(silent, zero, level.to(z.scalar_type())).unsqueeze(1), zero);
  const auto noise =
      normal(seed, Stream::observation_noise, first, batch, z.sizes().slice(1).vec(), torch::kFloat32, z.device());
  out.values = out.mask * (z + out.sigma * noise);
  out.weight = out.mask;
  out.exact = out.mask * (out.sigma == 0).to(z.scalar_type());
  return out;
}

}  // namespace piddm
