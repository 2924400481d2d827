#include "piddm/solve/terms.h"

#include "piddm/pde/physics_loss.h"

namespace piddm {

Tensor with_known(const Known& known, const Tensor& z) { return known ? known->mixed(z) : z; }

Tensor residual_term(const Model& model, const Tensor& z, double boundary) {
  return weighted(physics_loss(*model.pde, model.normalizer.to_physical(z)), boundary, model.normalizer.std(0));
}

double trained_lambda(const Model& model) {
  constexpr double kPaper = 10;
  const auto lambda = json::json_pointer("/experiment/distill/loss/lambda");
  return model.provenance.contains(lambda) ? model.provenance.at(lambda).get<double>() : kPaper;
}

}  // namespace piddm
