#include "piddm/solve/methods/amortised.h"

namespace piddm {

namespace {

constexpr int64_t kDraw = int64_t{1} << 32;  // sample numbers are below this

/// A model of another kind is refused by the base class, before there is a student.
const Model& posterior(const Model& model) {
  require<UsageError>(
      model.kind == ModelKind::posterior,
      "[amortised] this model is no posterior; train one (piddm train PDE-posterior), or name no method");
  return model;
}

}  // namespace

AmortisedMethod::AmortisedMethod(const Model& model, const AmortisedOptions& options)
    : BatchedMethod("amortised", posterior(model), ModelKind::posterior, options.batch),
      student_(model),
      options_(in_bounds(options)) {}

std::optional<Suitability> AmortisedMethod::suits(const Problem& problem) {
  if (problem.functionals) return {};
  return Suitability{Merit::learned, "the model is a posterior: one evaluation for a draw, whatever is known"};
}

Tensor AmortisedMethod::sample(const Batch& batch) {
  const torch::NoGradGuard no_grad;
  const auto images = student_.images(batch.known, batch.count);
  Tensor sum;
  for (int64_t draw = 0; draw < options_.average; ++draw) {
    const auto noise = student_.noise(batch.seed, batch.stream, batch.first + draw * kDraw, batch.count);
    const auto z = student_(noise, images);
    sum = draw == 0 ? z : sum + z;
    advance();
  }
  const auto z = options_.average == 1 ? sum : sum / static_cast<double>(options_.average);
  return options_.hard ? batch.known.mixed(z) : z;
}

/// The nearest points compare every row with every other: numbers of 8 bytes for each of a few fields at a time.
int64_t AmortisedMethod::extra_bytes() const {
  return 16 * encoding_channels(*model_.pde) * model_.pde->grid().points();
}

}  // namespace piddm
