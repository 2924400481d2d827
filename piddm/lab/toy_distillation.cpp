#include "piddm/lab/toy_distillation.h"

namespace piddm {

Tensor student_output(Network& student, const Tensor& e) {
  return student(e, torch::ones({1}, e.options().requires_grad(false)));
}

ToyDistillation::ToyDistillation(Network& student, Tensor latents, Tensor targets, SampleLoss constraint, double lambda,
                                 int64_t batch, uint64_t seed)
    : student_(student),
      latents_(std::move(latents)),
      targets_(std::move(targets)),
      constraint_(std::move(constraint)),
      lambda_(lambda),
      order_(latents_.size(0), batch, seed) {}

Loss ToyDistillation::loss(int64_t step) {
  const auto rows = order_.batch(step).to(latents_.device());
  const auto x = student_output(student_, latents_.index_select(0, rows));
  const auto sample = (x - targets_.index_select(0, rows)).flatten(1).square().sum(1).mean();
  const auto constraint = constraint_(x).mean();
  return {sample + lambda_ * constraint, {{"sample", sample}, {"constraint", constraint}}};
}

TrainSummary distill_toy(Mlp& student, ToyDistillation& objective, const TrainOptions& options,
                         const std::filesystem::path& run, const std::string& label) {
  const json config = {{"student", student.options_json()}, {"train", write_fields(options)}};
  auto folder = RunFolder::exists(run) ? RunFolder::open(run) : RunFolder::create(run, config);
  return train(student, objective, options, folder, label);
}

Tensor refine_latents(Network& student, const SampleLoss& constraint, double lambda, const LbfgsOptions& options,
                      const Tensor& e) {
  const auto objective =
      with_gradient([&](const Tensor& x) { return lambda * constraint(student_output(student, x)); });
  return minimize_lbfgs(objective, e, options).x;
}

}  // namespace piddm
