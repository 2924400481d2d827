#pragma once
// Teachers and students of pointwise Gaussian fields, for which every distillation has a known answer: x_0 ~ N(mean,
// std^2) in every entry, another law for each channel, so the ODE takes e to mean + std e.

#include "piddm/distill/pairs.h"
#include "piddm/model/student.h"
#include "piddm/train/trainer.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm::testing {

const std::vector<float> kMean = {0.8F, -0.5F}, kStd = {0.5F, 1.4F};

/// A network with the two parameters `mean` and `std`, [C,1,1].
class TwoParameterNetwork : public Network {
 public:
  TwoParameterNetwork(ProcessPtr process, const std::vector<float>& mean, const std::vector<float>& std)
      : process_(std::move(process)),
        mean_(register_parameter("mean", torch::tensor(mean).view({-1, 1, 1}))),
        std_(register_parameter("std", torch::tensor(std).view({-1, 1, 1}))) {}
  std::string type() const override { return "two-parameter"; }
  json options_json() const override { return json::object(); }

 protected:
  ProcessPtr process_;
  Tensor mean_, std_;
};

/// The exact velocity of the law.
class GaussianNetwork : public TwoParameterNetwork {
 public:
  using TwoParameterNetwork::TwoParameterNetwork;

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override {
    const auto s = process_->at(t);
    const auto y = (x - s.alpha * mean_) / (s.alpha.square() * std_.square() + s.sigma.square());
    return s.d_alpha * (mean_ + s.alpha * std_.square() * y) + s.d_sigma * (s.sigma * y);
  }
};

/// Clean estimate mean + std x: as a student, the affine map of the latent.
class AffineNetwork : public TwoParameterNetwork {
 public:
  using TwoParameterNetwork::TwoParameterNetwork;

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override {
    return process_->velocity_from_clean(x, mean_ + std_ * x, t);
  }
};

/// A model without a trained network: tiny Darcy's channels, this process.
inline Model model_of(NetworkPtr network, ProcessPtr process) {
  Model model;
  model.pde = tiny_pde();
  model.process = std::move(process);
  model.normalizer = Normalizer::fit(tiny_data(16), model.pde->channels());
  model.network = std::move(network);
  return model;
}

inline Model gaussian_teacher(const std::string& process) {
  const auto p = process_registry().at(process)();
  return model_of(std::make_shared<GaussianNetwork>(p, kMean, kStd), p);
}

/// d(e) = e to begin with.
inline Model affine_student(const Model& teacher) {
  auto model =
      model_of(std::make_shared<AffineNetwork>(teacher.process, std::vector<float>{0, 0}, std::vector<float>{1, 1}),
               teacher.process);
  model.kind = ModelKind::student;
  return model;
}

inline std::pair<Tensor, Tensor> affine_parameters(const Model& model) {
  const auto parameters = model.network->named_parameters();
  return {parameters["mean"].detach().flatten(), parameters["std"].detach().flatten()};
}

/// Offset and slope of the affine map that `steps` Euler steps make of the latent, [C] each.
inline std::pair<Tensor, Tensor> end_of_euler(const Model& teacher, int64_t steps) {
  const auto zero = torch::zeros({1, 2, 1, 1});
  const auto offset = sample_teacher(teacher, zero, {.steps = steps}, "zero");
  return {offset.flatten(), (sample_teacher(teacher, zero + 1, {.steps = steps}, "one") - offset).flatten()};
}

inline TrainSummary train_quickly(torch::nn::Module& network, Objective& objective, int64_t steps, double lr,
                                  const std::filesystem::path& folder) {
  TrainOptions options;
  options.steps = steps;
  options.adam = {.lr = lr, .clip = 0, .ema = 0.9};
  options.log_every = options.checkpoint_every = steps;
  auto run = RunFolder::create(folder, json::object());
  return train(network, objective, options, run, "test");
}

}  // namespace piddm::testing
