#include "piddm/solve/methods/eci.h"

#include <charconv>

#include "piddm/solve/methods/divergence.h"

namespace piddm {

namespace {

constexpr std::string_view kResample = "resample:";

int64_t redraws_in(const std::string& noise) {
  const char *first = noise.data() + kResample.size(), *last = noise.data() + noise.size();
  int64_t every = 0;
  const auto [end, error] = std::from_chars(first, last, every);
  require<UsageError>(error == std::errc() && end == last && every >= 1,
                      "noise: expected resample:K with a whole number K >= 1, got '{}'", noise);
  return every;
}

Tensor impose(const Target& known, const Tensor& z) {
  return known.empty() ? z : known.mask * known.values + (1 - known.mask) * z;
}

}  // namespace

EciMethod::EciMethod(const Model& model, const EciOptions& options)
    : BatchedMethod("eci", model, ModelKind::teacher, options.batch), options_(in_bounds(options)) {
  if (options.noise.starts_with(kResample)) {
    noise_mode_ = Noise::resample;
    redraw_every_ = redraws_in(options.noise);
  } else {
    require<UsageError>(options.noise == "fixed" || options.noise == "ddim", "noise: {}",
                        unknown_name_message("value", options.noise, {"fixed", "resample:K", "ddim"}));
    noise_mode_ = options.noise == "ddim" ? Noise::ddim : Noise::fixed;
  }
  if (options.constraint.is_string()) {
    const auto word = options.constraint.get<std::string>();
    require<UsageError>(word == "pde" || word == "none", "constraint: {}",
                        unknown_name_message("value", word, {"pde", "none"}));
  } else {
    constraint_ = make_constraint(options.constraint, *model.pde);
  }
}

EciOptions EciMethod::matched(EciOptions options) {
  options.mixing = compute_share(options.mixing, 3, 5);
  return options;
}

std::vector<SearchFamily> EciMethod::search(const Model&, Task) {
  return {{.name = "mixing",
           .axes = {{.key = "mixing", .low = 1, .high = 10, .whole = true},
                    {.key = "noise", .choices = {"fixed", "resample:1", "resample:5", "ddim"}},
                    {.key = "constraint", .choices = {"pde", "none"}},
                    {.key = "spacing", .choices = {"uniform", "quadratic"}}}}};
}

Tensor EciMethod::correct(const Tensor& z, const Target& known) const {
  if (options_.constraint == "none") return impose(known, z);
  const auto x = model_.normalizer.to_physical(z);
  const auto corrected = constraint_ ? constraint_->adjust(x) : model_.pde->constrain(x);
  return impose(known, model_.normalizer.to_network(corrected));
}

Tensor EciMethod::sample(const Batch& batch) {
  const torch::NoGradGuard no_grad;
  auto e = noise(batch), x = e;
  DivergenceGuard guard(name(), x);
  const auto& process = *model_.process;
  const TeacherSteps steps(model_, options_.steps, options_.spacing);
  Tensor clean;
  int64_t evaluations = 0;
  for (int64_t i = 0; i < options_.steps; ++i) {
    const auto t = steps.time(i, x);
    for (int64_t mix = 1; mix <= options_.mixing; ++mix) {
      const auto v = steps.velocity(x, i);
      clean = correct(steps.clean(x, v, i), batch.known);
      ++evaluations;
      if (noise_mode_ == Noise::ddim) e = process.noise(x, v, t);
      if (noise_mode_ == Noise::resample && evaluations % redraw_every_ == 0)
        e = noise(batch, evaluations / redraw_every_);
      x = guard.step(process.diffuse(clean, e, mix == options_.mixing ? t - steps.dt(i) : t), clean);
    }
    advance();
  }
  return guard.finish(clean);
}

}  // namespace piddm
