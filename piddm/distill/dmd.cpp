#include "piddm/distill/dmd.h"

#include "piddm/process/time_grid.h"

namespace piddm {

namespace {

constexpr double kLeastSize = 1e-6;             // of the mean distance to the teacher's estimate, in network units
constexpr double kFirst = 0.02, kLast = 0.998;  // share of the time span between which times are drawn

}  // namespace

Dmd::Dmd(const Student& student, const Model& model, const Model& teacher, NetworkPtr critic, PairSource& pairs,
         const StudentLossOptions& loss, const DmdOptions& options, int64_t batch, uint64_t seed)
    : StudentObjective(student, model, loss),
      teacher_(teacher),
      critic_(std::move(critic), teacher.process, {.lr = options.critic_lr, .ema = 0}),
      options_(options),
      draws_(model, seed, batch, 2 * (1 + options.critic_steps)),
      pool_(pairs, batch, seed) {
  check_bounds(options, "distill.dmd");
}

Tensor Dmd::times(int64_t step, int64_t slot) const {
  const double end = teacher_.process->t_end();
  return random_times(Spacing::quadratic, draws_.uniform(step, slot), end + (1 - end) * kFirst,
                      end + (1 - end) * kLast);
}

Tensor Dmd::direction(const Tensor& x, const Tensor& e, const Tensor& t) const {
  const torch::NoGradGuard no_grad;
  const auto x_t = teacher_.process->diffuse(x, e, t);
  const auto real = teacher_.process->clean(x_t, (*teacher_.network)(x_t, t), t);
  const auto size = (x - real).abs().mean({1, 2, 3}, true).clamp_min(kLeastSize);
  return (critic_.clean(x_t, t) - real) / size;
}

Loss Dmd::loss(int64_t step) {
  const bool warm_up = step < options_.warm_up;
  Tensor x, match;
  std::optional<Tensor> sample;
  if (warm_up || options_.regression > 0) {
    const auto pairs = pool_.batch(step);
    x = student_.soft(pairs.latents);
    sample = match = distance(x, pairs.targets);
  }
  if (!warm_up) {
    x = student_.soft(draws_.normal(step, 0));
    const auto g = direction(x, draws_.normal(step, 1), times(step, 1));
    match = 0.5 * (x - (x - g).detach()).square().mean();
    if (sample) match = match + options_.regression * *sample;
  }
  auto loss = with_physics("dmd", match, x, step);
  if (sample) loss.terms.emplace_back("sample", sample->detach());
  loss.terms.emplace_back("critic", critic_.last_loss()[0]);
  return loss;
}

void Dmd::advance(int64_t step) {
  StudentObjective::advance(step);
  for (int64_t i = 0; i < options_.critic_steps; ++i) {
    Tensor x;
    {
      const torch::NoGradGuard no_grad;
      x = student_.soft(draws_.normal(step, 2 * i + 2));
    }
    critic_.learn(step * options_.critic_steps + i + 1, x, draws_.normal(step, 2 * i + 3), times(step, 2 * i + 3));
  }
}

ObjectiveState Dmd::state() const {
  auto out = StudentObjective::state();
  out.merge(critic_.state());
  return out;
}

void Dmd::load(const ObjectiveState& state) {
  StudentObjective::load(state);
  critic_.load(state);
}

}  // namespace piddm
