#include "benchmarks/work.h"

#include <cmath>
#include <optional>

#include "piddm/core/rng.h"
#include "piddm/distill/pairs.h"
#include "piddm/solve/methods/piddm.h"
#include "piddm/train/flow_matching.h"
#include "piddm/train/gpu_step.h"

namespace piddm::bench {

namespace {

using torch::autograd::grad;

Tensor noise(const BenchCase& c, int64_t channels) {
  return normal(c.seed, Stream::latents, 0, c.batch, {channels, c.grid.height(), c.grid.width()}).to(c.device);
}

ProcessPtr bench_process() { return process_registry().at("linear")(); }  // name: the paper's process

Tensor times(const BenchCase& c) { return uniform(c.seed, Stream::time, 0, c.batch, {}).to(c.device); }

std::shared_ptr<Fno> fresh_network(const BenchCase& c, SpectralForm form) {
  auto options = c.fno;
  options.spectral = form;
  auto network = std::make_shared<Fno>(options, c.seed);
  network->to(c.device);
  network->set_precision(c.precision);
  return network;
}

/// One layer in textbook form, activations [C,B,H,W].
Tensor fft_layer(const Tensor& x, const LayerWeights& w) {
  const auto flat = x.reshape({x.size(0), -1});
  const auto k = spectral_fft(x, w.spectral).reshape({w.bias.size(0), -1});
  return torch::gelu(torch::addmm(k + w.bias.unsqueeze(1), w.skip, flat));
}

Work layer_work(const BenchCase& c, SpectralForm form) {
  const int64_t width = c.fno.width, m1 = c.fno.modes[0], m2 = c.fno.modes[1] / 2 + 1;
  const auto draw = [&](int64_t index, const std::vector<int64_t>& shape) {
    return normal(c.seed, Stream::parameters, index, 1, shape)[0] / std::sqrt(static_cast<double>(width));
  };
  const LayerWeights w{draw(0, {m1, m2, 2, width, width}), draw(1, {width, width}), draw(2, {width})};
  const bool fft = form == SpectralForm::fft, train = c.what == "train";
  const auto x = fft ? noise(c, width).transpose(0, 1).contiguous() : noise(c, width);
  for (const auto& tensor : {x, w.spectral, w.skip, w.bias}) tensor.set_requires_grad(train);
  auto plan = std::make_shared<SpectralPlan>(
      SpectralBasis(m1, c.fno.modes[1], c.grid.height(), c.grid.width(), torch::kFloat32));
  const auto layer = [=] { return fft ? fft_layer(x, w) : spectral_layer(x, w, *plan, true); };
  return {[=] {
    const torch::AutoGradMode mode(train);
    const auto y = layer();
    if (train) grad({y.square().mean()}, {x, w.spectral, w.skip, w.bias});
  }};
}

Work forward_work(const BenchCase& c, const std::shared_ptr<Fno>& network) {
  const auto x = noise(c, c.fno.channels), t = times(c);
  return {[=] {
            const torch::NoGradGuard no_grad;
            (*network)(x, t);
          },
          true};
}

Work gradient_work(const BenchCase& c, const std::shared_ptr<Fno>& network) {
  const bool of_weights = c.what == "train";
  const auto x = noise(c, c.fno.channels).set_requires_grad(!of_weights), t = times(c);
  const auto inputs = of_weights ? network->parameters() : std::vector<Tensor>{x};
  return {[=] { grad({(*network)(x, t).square().mean()}, inputs); }, true};
}

/// What the training loop does in a step.
class TrainStep {
 public:
  TrainStep(const BenchCase& c, SpectralForm form)
      : network_(fresh_network(c, form)),
        adam_(*network_, {}),
        objective_(*network_, bench_process(), noise(c, c.fno.channels), c.batch, c.seed) {
    if (!c.device.is_cuda()) return;
    gpu_.emplace(objective_, adam_, true);
    while (step_ <= GpuStep::kWarmup) (*this)();  // the last of these records the step
  }

  void operator()() {
    const int64_t step = step_++;
    if (gpu_) return gpu_->run(step, kLearningRate);
    adam_.zero_grad();
    objective_.prepare(step);
    objective_.loss(step).total.backward();
    adam_.step(step + 1, kLearningRate, adam_.gradient_norm());
  }

 private:
  static constexpr double kLearningRate = 1e-4;
  std::shared_ptr<Fno> network_;
  Adam adam_;
  FlowMatching objective_;
  std::optional<GpuStep> gpu_;
  int64_t step_ = 0;
};

Model bench_model(const BenchCase& c, const std::shared_ptr<Fno>& network, ModelKind kind) {
  Model model;
  model.kind = kind;
  model.pde = make_pde({.name = "darcy", .grid = c.grid});  // name: the PDE of the paper's tables of costs
  model.process = bench_process();
  model.normalizer = Normalizer::fit(model.pde->sample(c.seed, 0, 4), model.pde->channels());
  model.network = network;
  return model;
}

Work teacher_work(const BenchCase& c, const std::shared_ptr<Fno>& network) {
  const auto model = bench_model(c, network, ModelKind::teacher);
  const auto e = noise(c, c.fno.channels);
  return {[=, steps = c.steps] { sample_teacher(model, e, {.steps = steps}, ""); }};
}

Work student_work(const BenchCase& c, const std::shared_ptr<Fno>& network) {
  const auto student = std::make_shared<Student>(bench_model(c, network, ModelKind::student));
  const auto e = noise(c, c.fno.channels);
  return {[=] {
            const torch::NoGradGuard no_grad;
            (*student)(e);
          },
          true};
}

/// The task forward: a is known, u is sought.
Work latent_work(const BenchCase& c, const std::shared_ptr<Fno>& network) {
  const auto method =
      std::make_shared<PiddmMethod>(bench_model(c, network, ModelKind::student), PiddmOptions{.batch = c.batch});
  const auto observed = noise(c, c.fno.channels), e = (0.5 * observed).set_requires_grad(true);
  auto mask = torch::zeros_like(observed);
  mask.select(1, 1).fill_(1);
  const auto target = exact_target(observed, mask);
  return {[=] { grad({method->task_loss(e, target).sum()}, {e}); }};
}

}  // namespace

std::shared_ptr<Fno> WorkShop::network(const BenchCase& c, SpectralForm form, bool of_weights) {
  auto options = c.fno;
  options.spectral = form;
  auto& kept = networks_[write_fields(options).dump()];
  if (!kept) kept = fresh_network(c, form);
  kept->set_precision(c.precision);
  for (auto& parameter : kept->parameters()) parameter.set_requires_grad(of_weights);
  return kept;
}

Work WorkShop::make(const BenchCase& c, SpectralForm form) {
  if (c.single_layer()) return layer_work(c, form);
  if (c.what == "step") {
    const auto step = std::make_shared<TrainStep>(c, form);
    return {[step] { (*step)(); }};
  }
  const auto shared = network(c, form, c.what == "train");
  if (c.what == "forward") return forward_work(c, shared);
  if (c.what == "teacher") return teacher_work(c, shared);
  if (c.what == "student") return student_work(c, shared);
  if (c.what == "latent-optimisation") return latent_work(c, shared);
  return gradient_work(c, shared);
}

}  // namespace piddm::bench
