#pragma once
// The exact velocity of a Gaussian mixture as a network, so that every sampler and its count of work run on it: x is
// [B,C,H,W] with C H W = D.

#include "piddm/model/network.h"
#include "piddm/process/gaussian_mixture.h"

namespace piddm {

class MixtureNetwork : public Network {
 public:
  MixtureNetwork(GaussianMixture law, ProcessPtr process) : law_(std::move(law)), process_(std::move(process)) {}
  std::string type() const override { return "mixture"; }
  json options_json() const override;

  const GaussianMixture& law() const { return law_; }
  const ProcessPtr& process() const { return process_; }

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override { return law_.velocity(x, t, *process_); }

 private:
  GaussianMixture law_;
  ProcessPtr process_;
};

}  // namespace piddm
