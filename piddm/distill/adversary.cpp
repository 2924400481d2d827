#include "piddm/distill/adversary.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"
#include "piddm/model/parameters.h"

namespace piddm {

namespace {

const std::string kPrefix = "adversary-";
constexpr double kLeak = 0.2;
constexpr double kLeastNorm = 1e-12;
constexpr uint64_t kSeedOffset = 0xad;  // initial weights other than those of a student of the same seed

Tensor unit(const Tensor& x) { return x / x.norm().clamp_min(kLeastNorm); }

}  // namespace

PatchDiscriminator::PatchDiscriminator(int64_t channels, int64_t width, uint64_t seed) {
  ParameterDraw draw(*this, seed);
  const std::vector<int64_t> widths{channels, width, 2 * width, 4 * width, 4 * width, 1};
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const bool last = i + 2 == widths.size();
    const int64_t kernel = last ? 1 : 4, in = widths[i], out = widths[i + 1];
    const auto name = "layer" + std::to_string(i);
    const double keep_variance = std::sqrt(2.0 / static_cast<double>(in * kernel * kernel));
    Layer layer{draw(name + ".weight", {out, in, kernel, kernel}, keep_variance),
                draw(name + ".bias", {out}, 0),
                torch::full({out}, std::sqrt(1.0 / static_cast<double>(out))),
                {},
                last ? 1 : 2};
    layer.v = torch::zeros({in * kernel * kernel});
    layers_.push_back(std::move(layer));
  }
  normalise();
}

Tensor PatchDiscriminator::normalised(const Layer& layer) const {
  const auto sigma = layer.u.dot(layer.weight.flatten(1).mv(layer.v));
  return layer.weight / sigma;
}

Tensor PatchDiscriminator::forward(const Tensor& x, bool frozen) const {
  auto h = x;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto& layer = layers_[i];
    const auto weight = normalised(layer);
    h = torch::conv2d(h, frozen ? weight.detach() : weight, frozen ? layer.bias.detach() : layer.bias, layer.stride,
                      layer.stride == 2 ? 1 : 0);
    if (i + 1 < layers_.size()) h = torch::leaky_relu(h, kLeak);
  }
  return h;
}

void PatchDiscriminator::normalise() {
  const torch::NoGradGuard no_grad;
  for (auto& layer : layers_) {
    const auto w = layer.weight.flatten(1);
    layer.u = layer.u.to(w.device()), layer.v = layer.v.to(w.device());
    layer.v.copy_(unit(w.t().mv(layer.u)));
    layer.u.copy_(unit(w.mv(layer.v)));
  }
}

TensorMap PatchDiscriminator::vectors() const {
  TensorMap out;
  for (size_t i = 0; i < layers_.size(); ++i) {
    out["u" + std::to_string(i)] = layers_[i].u.to(torch::kCPU);
    out["v" + std::to_string(i)] = layers_[i].v.to(torch::kCPU);
  }
  return out;
}

void PatchDiscriminator::load_vectors(const TensorMap& vectors) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto u = vectors.find("u" + std::to_string(i)), v = vectors.find("v" + std::to_string(i));
    require<DataError>(u != vectors.end() && v != vectors.end() && u->second.sizes() == layers_[i].u.sizes() &&
                           v->second.sizes() == layers_[i].v.sizes(),
                       "checkpoint: the adversary's vectors of layer {} are missing or of another size", i);
    layers_[i].u.copy_(u->second);
    layers_[i].v.copy_(v->second);
  }
}

Adversary::Adversary(const Tensor& data, const AdversaryOptions& options, int64_t first, int64_t steps, uint64_t seed)
    : data_(data.to(torch::kFloat32)),
      options_(options),
      first_(first),
      steps_(steps),
      seed_(seed),
      network_(data.size(1), options.width, seed + kSeedOffset),
      adam_((network_.to(data.device()), network_), {.lr = options.lr, .beta1 = 0.5, .ema = 0}),
      last_loss_(torch::zeros({1}, data_.options())) {
  check_bounds(options, "distill.loss.adversary");
  network_.normalise();
}

Tensor Adversary::verdict(const Tensor& x) const {
  return -options_.weight * network_.forward(x.to(torch::kFloat32), true).mean();
}

double Adversary::learning_rate(int64_t step) const {
  const double over = static_cast<double>(step - first_) / static_cast<double>(std::max<int64_t>(steps_ - first_, 1));
  return options_.lr * (1 + std::cos(M_PI * std::min(over, 1.0))) / 2;
}

void Adversary::learn(int64_t step, const Tensor& x) {
  const torch::AutoGradMode with_gradient(true);
  if (!order_) order_.emplace(data_.size(0), x.size(0), seed_);
  const auto x0 = data_.index_select(0, order_->batch(step - first_).to(data_.device()));
  network_.normalise();
  adam_.zero_grad();
  const auto loss = torch::relu(1 - network_.forward(x0, false)).mean() +
                    torch::relu(1 + network_.forward(x.detach().to(torch::kFloat32), false)).mean();
  loss.backward();
  last_loss_.copy_(loss.detach().view({1}));
  const int64_t k = step - first_ + 1;
  const double lr = learning_rate(step);
  if (adam_.fits_gpu_step()) {
    adam_.prepare(k, lr);
    return adam_.step_on_gpu(loss);
  }
  const double norm = adam_.gradient_norm();
  require<NumericsError>(std::isfinite(norm) && all_finite(last_loss_),
                         "the adversary's step {} is not finite; a smaller distill.loss.adversary.lr usually helps", k);
  adam_.step(k, lr, norm);
}

ObjectiveState Adversary::state() const {
  require<NumericsError>(all_finite(last_loss_),
                         "the adversary's loss is not finite; a smaller distill.loss.adversary.lr usually helps");
  ObjectiveState out{{kPrefix + "loss", {{"loss", last_loss_.to(torch::kCPU)}}},
                     {kPrefix + "vectors", network_.vectors()}};
  for (const auto& [part, tensors] : adam_.state()) out[kPrefix + part] = tensors;
  return out;
}

void Adversary::load(const ObjectiveState& state) {
  std::map<std::string, TensorMap> own;
  for (const auto& [part, tensors] : state)
    if (part.rfind(kPrefix, 0) == 0) own[part.substr(kPrefix.size())] = tensors;
  require<DataError>(own.count("loss") == 1 && own.count("vectors") == 1,
                     "checkpoint: part 'objective-adversary' is missing or not whole");
  adam_.load(own);
  network_.load_vectors(own.at("vectors"));
  last_loss_.copy_(own.at("loss").at("loss"));
}

}  // namespace piddm
