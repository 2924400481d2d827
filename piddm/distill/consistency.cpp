#include "piddm/distill/consistency.h"

#include "piddm/model/weights.h"

namespace piddm {

namespace {

constexpr double kLeastSigma = 1e-12;  // where sigma vanishes f(x, t) = x for any w

// One step of Heun's method for each sample between its own times; of Euler's where it ends at t_end
// (process/integrator.h).
Tensor heun_step(Network& v, const Tensor& x, const Tensor& t, const Tensor& s, double t_end) {
  const auto dt = (t - s).view({-1, 1, 1, 1});
  const auto first = v(x, t), second = torch::where((s > t_end).view({-1, 1, 1, 1}), v(x - first * dt, s), first);
  return x - (first + second) * (dt / 2);
}

}  // namespace

Consistency::Consistency(const Student& student, const Model& model, const Model& teacher, NetworkPtr target,
                         PairSource& pairs, const StudentLossOptions& loss, const ConsistencyOptions& options,
                         int64_t batch, uint64_t seed)
    : StudentObjective(student, model, loss),
      teacher_(teacher),
      target_(std::move(target)),
      options_(options),
      draws_(model, seed, batch, 2),
      pool_(pairs, batch, seed) {
  check_bounds(options, "distill.consistency");
}

Tensor Consistency::map(Network& network, const Tensor& x, const Tensor& t) const {
  const auto& process = *model_.process;
  const auto sigma = [&](const Tensor& time) { return process.at(time).sigma.clamp_min(kLeastSigma); };
  const auto first = process.at(torch::full_like(t, process.t_end())).sigma;
  const auto share = [&](const Tensor& time) { return 1 - (first / sigma(time)).square(); };
  const auto w = process.t_end() > 0 ? share(t) / share(torch::ones_like(t)) : torch::ones_like(first);
  return x + w * (process.clean(x, network(x, t), t) - x);
}

Tensor Consistency::time(const Tensor& interval) const {
  const double end = model_.process->t_end();
  return end + (1 - end) / static_cast<double>(options_.intervals) * interval;
}

Tensor Consistency::target_of(const Tensor& x, const Tensor& interval) const {
  const torch::NoGradGuard no_grad;
  const auto s = time(interval - 1);
  return map(*target_, heun_step(*teacher_.network, x, time(interval), s, model_.process->t_end()), s);
}

Loss Consistency::loss(int64_t step) {
  const auto pairs = pool_.batch(step);
  const auto last = static_cast<double>(options_.intervals);
  const auto i = (1 + torch::floor((last - 1) * draws_.uniform(step, 0))).clamp_max(last - 1);
  const auto x = model_.process->diffuse(pairs.targets, draws_.normal(step, 0), time(i));
  const auto inner = distance(map(student_.network(), x, time(i)), target_of(x, i));

  const auto e = draws_.normal(step, 1), d = student_.soft(e);
  const auto outer = distance(d, target_of(e, torch::full({1}, last, e.options())));
  return with_physics("consistency", 0.5 * (inner + outer), d, step);
}

void Consistency::advance(int64_t step) {
  StudentObjective::advance(step);
  const torch::NoGradGuard no_grad;
  const auto weights = student_.network().parameters(), targets = target_->parameters();
  for (size_t i = 0; i < weights.size(); ++i) targets[i].lerp_(weights[i], 1 - options_.target_ema);
}

ObjectiveState Consistency::state() const {
  auto out = StudentObjective::state();
  out["target"] = weights_of(*target_);
  return out;
}

void Consistency::load(const ObjectiveState& state) {
  StudentObjective::load(state);
  require<DataError>(state.count("target") == 1, "checkpoint: part 'objective-target' is missing");
  load_weights(*target_, state.at("target"), "checkpoint");
}

}  // namespace piddm
