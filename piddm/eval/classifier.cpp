#include "piddm/eval/classifier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "piddm/core/rng.h"
#include "piddm/model/parameters.h"
#include "piddm/train/adam.h"

namespace piddm {

namespace {

constexpr int64_t kCoarsest = 4, kHidden = 64, kHeldOutBatch = 256, kFewest = 8;
constexpr double kMomentum = 0.1, kSmallVariance = 1e-8, kSlope = 0.1, kWarmUp = 0.1, kFarthest = 20, kNoDetail = 1e-9;
constexpr int64_t kSplitIndex = int64_t{1} << 34;  // far from the other uses of Stream::splits

/// Convolutions in float32 that give the same bits every time.
class ExactConvolutions {
 public:
  ExactConvolutions()
      : tf32_(at::globalContext().allowTF32CuDNN()), deterministic_(at::globalContext().deterministicCuDNN()) {
    set(false, true);
  }
  ~ExactConvolutions() { set(tf32_, deterministic_); }
  ExactConvolutions(const ExactConvolutions&) = delete;
  ExactConvolutions& operator=(const ExactConvolutions&) = delete;

 private:
  static void set(bool tf32, bool deterministic) {
    at::globalContext().setAllowTF32CuDNN(tf32);
    at::globalContext().setDeterministicCuDNN(deterministic);
  }
  bool tf32_, deterministic_;
};

/// Five points, edges continued.
Tensor laplacian(const Tensor& x) {
  const auto p = at::replication_pad2d(x, {1, 1, 1, 1});
  const int64_t h = x.size(2), w = x.size(3);
  const auto at = [&](int64_t i, int64_t j) { return p.narrow(2, i, h).narrow(3, j, w); };
  return at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - 4 * x;
}

/// What the classifier sees of fields, in units taken from true ones.
class Inputs {
 public:
  explicit Inputs(const Tensor& truth) {
    const auto deviation = [](const Tensor& x) { return x.std({0, 2, 3}, /*unbiased=*/false, /*keepdim=*/true); };
    mean_ = truth.mean({0, 2, 3}, true);
    unit_ = deviation(truth).clamp_min(kNoDetail);
    const auto detail = deviation(laplacian((truth - mean_) / unit_));
    detailed_ = (detail.flatten() > kNoDetail).nonzero().flatten();
    detail_unit_ = detail.index_select(1, detailed_);
    const int64_t h = truth.size(2), w = truth.size(3);
    const auto axis = [&](int64_t n) { return torch::linspace(-1, 1, n, truth.options()); };
    coordinates_ = torch::stack({axis(h).unsqueeze(1).expand({h, w}), axis(w).expand({h, w})}).unsqueeze(0);
  }

  int64_t channels() const { return mean_.size(1) + detailed_.size(0) + 2; }

  Tensor operator()(const Tensor& x) const {
    const auto z = (x - mean_) / unit_;
    const auto details = laplacian(z).index_select(1, detailed_) / detail_unit_;
    return torch::cat({z.clamp(-kFarthest, kFarthest), details.clamp(-kFarthest, kFarthest),
                       coordinates_.expand({x.size(0), 2, x.size(2), x.size(3)})},
                      1);
  }

 private:
  Tensor mean_, unit_, detailed_, detail_unit_, coordinates_;
};

class Classifier : public torch::nn::Module {
 public:
  /// For fields whose shorter side has `points` cells.
  Classifier(int64_t channels, int64_t width, int64_t points, uint64_t seed) {
    ParameterDraw draw(*this, seed);
    const auto layer = [&](const std::string& name, int64_t in, int64_t out) {
      return Layer{draw(name + ".weight", {out, in, 3, 3}, std::sqrt(2.0 / static_cast<double>(9 * in))),
                   draw(name + ".bias", {out}, 0)};
    };
    int64_t in = channels, out = width, features = 0;
    for (int64_t n = points; n >= kCoarsest; n = (n + 1) / 2) {
      const auto name = fmt::format("level{}", levels_.size());
      levels_.push_back({layer(name + ".first", in, out), layer(name + ".second", out, out)});
      features += out;
      in = out;
      out = 2 * width;
    }
    scale_ = {draw("scale.weight", {features}, 0, 1), draw("scale.bias", {features}, 0)};
    hidden_ = {draw("hidden.weight", {features, kHidden}, std::sqrt(2.0 / static_cast<double>(features))),
               draw("hidden.bias", {kHidden}, 0)};
    out_ = {draw("out.weight", {kHidden, 1}, 1 / std::sqrt(static_cast<double>(kHidden))), draw("out.bias", {1}, 0)};
    mean_ = register_buffer("mean", torch::zeros({features}));
    variance_ = register_buffer("variance", torch::ones({features}));
  }

  /// [B], positive for what it takes for true. While training the means over space are normalised over the batch, which
  /// must hold both kinds of fields.
  Tensor operator()(Tensor x, bool training = false) const {
    std::vector<Tensor> means;
    for (size_t i = 0; i < levels_.size(); ++i) {
      x = at::leaky_relu(at::conv2d(x, levels_[i][0].weight, levels_[i][0].bias, i == 0 ? 1 : 2, 1), kSlope);
      x = at::leaky_relu(at::conv2d(x, levels_[i][1].weight, levels_[i][1].bias, 1, 1), kSlope);
      means.push_back(x.mean({2, 3}));
    }
    const auto features = at::batch_norm(torch::cat(means, 1), scale_.weight, scale_.bias, mean_, variance_, training,
                                         kMomentum, kSmallVariance, /*cudnn_enabled=*/false);
    const auto hidden = at::leaky_relu(at::addmm(hidden_.bias, features, hidden_.weight), kSlope);
    return at::addmm(out_.bias, hidden, out_.weight).squeeze(1);
  }

 private:
  struct Layer {
    Tensor weight, bias;
  };
  std::vector<std::array<Layer, 2>> levels_;
  Layer scale_, hidden_, out_;
  Tensor mean_, variance_;
};

/// Up to the largest rate, then down to zero on a cosine.
double rate(const ClassifierRecipe& recipe, int64_t step) {
  const double at = (static_cast<double>(step) + 0.5) / static_cast<double>(recipe.steps);
  if (at < kWarmUp) return recipe.lr * at / kWarmUp;
  return recipe.lr * 0.5 * (1 + std::cos(std::numbers::pi * (at - kWarmUp) / (1 - kWarmUp)));
}

/// Fields in an order of their own, a new one each time all have been seen.
class Batches {
 public:
  Batches(Tensor fields, int64_t size, uint64_t seed, int64_t kind)
      : fields_(std::move(fields)), size_(std::min(size, fields_.size(0))), seed_(seed), kind_(kind) {}

  Tensor next() {
    if (!order_.defined() || at_ + size_ > fields_.size(0)) {
      order_ = permutation(seed_, Stream::batches, 2 * round_++ + kind_, fields_.size(0)).to(fields_.device());
      at_ = 0;
    }
    at_ += size_;
    return fields_.index_select(0, order_.narrow(0, at_ - size_, size_));
  }

 private:
  Tensor fields_, order_;
  int64_t size_, at_ = 0, round_ = 0;
  uint64_t seed_;
  int64_t kind_;
};

/// Symmetries of a rectangle, or of a square.
int64_t symmetries(const Tensor& x) { return x.size(2) == x.size(3) ? 8 : 4; }

/// The k-th of them. Coordinates are turned with the fields, so that nothing is lost.
Tensor turned(const Tensor& x, int64_t k) {
  std::vector<int64_t> axes;
  if (k & 1) axes.push_back(2);
  if (k & 2) axes.push_back(3);
  const auto flipped = axes.empty() ? x : x.flip(axes);
  return k & 4 ? flipped.transpose(2, 3) : flipped;
}

/// Each field of a batch in one of the positions: every n-th in the first one, and so on.
Tensor in_positions(const Tensor& x) {
  const int64_t n = symmetries(x);
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; ++k) parts.push_back(turned(x.slice(0, k, x.size(0), n), k));
  return torch::cat(parts);
}

/// Numbers [B] in the order in which in_positions leaves the fields.
Tensor in_order_of_positions(const Tensor& values, int64_t n) {
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; ++k) parts.push_back(values.slice(0, k, values.size(0), n));
  return torch::cat(parts);
}

void train(const Classifier& classifier, Adam& adam, const Inputs& inputs, Batches generated, Batches truth,
           const ClassifierRecipe& recipe) {
  const torch::AutoGradMode with_gradients(true);
  for (int64_t k = 0; k < recipe.steps; ++k) {
    adam.zero_grad();
    const auto fake = generated.next(), real = truth.next();
    const auto sign =
        torch::cat({torch::ones({fake.size(0)}, fake.options()), -torch::ones({real.size(0)}, real.options())});
    const auto answers = classifier(in_positions(inputs(torch::cat({fake, real}))), true);
    const auto loss = 2 * at::softplus(answers * in_order_of_positions(sign, symmetries(fake))).mean();
    loss.backward();
    adam.step(k + 1, rate(recipe, k), adam.gradient_norm());
  }
}

/// Positive for fields [B,C,H,W] that are taken for true: the mean over all positions.
Tensor verdict(const Classifier& classifier, const Tensor& x) {
  auto sum = classifier(x);
  for (int64_t k = 1; k < symmetries(x); ++k) sum += classifier(turned(x, k));
  return sum;
}

struct Split {
  Tensor train, held_out;
};

Split split_of(const Tensor& fields, int64_t n, torch::Device device, uint64_t seed, int64_t kind) {
  const auto order = permutation(seed, Stream::splits, kSplitIndex + kind, n).to(fields.device());
  const auto part = [&](const Tensor& indices) {
    return fields.index_select(0, indices).to(device, torch::kFloat32).contiguous();
  };
  return {part(order.slice(0, n / 4)), part(order.slice(0, 0, n / 4))};
}

}  // namespace

Tensor told_apart(const Tensor& generated, const Tensor& truth, const ClassifierRecipe& recipe) {
  const int64_t n = std::min(generated.size(0), truth.size(0));
  require<DataError>(n >= kFewest, "[classifier] needs at least {} samples of each kind, got {}", kFewest, n);
  require<DataError>(generated.sizes().slice(1) == truth.sizes().slice(1),
                     "[classifier] generated {} and true {} differ in shape", shape_string(generated),
                     shape_string(truth));
  const torch::NoGradGuard no_grad;
  const ExactConvolutions exact;
  const auto fake = split_of(generated, n, truth.device(), recipe.seed, 0);
  const auto real = split_of(truth, n, truth.device(), recipe.seed, 1);
  const Inputs inputs(real.train);
  Classifier classifier(inputs.channels(), recipe.width, std::min(truth.size(2), truth.size(3)), recipe.seed);
  classifier.to(truth.device());
  AdamOptions options;
  options.lr = recipe.lr;
  Adam adam(classifier, options);
  train(classifier, adam, inputs, {fake.train, recipe.batch, recipe.seed, 0},
        {real.train, recipe.batch, recipe.seed, 1}, recipe);
  const auto right = [&](const Tensor& fields, bool is_true) {
    std::vector<Tensor> parts;
    for (const auto& part : fields.split(kHeldOutBatch))
      parts.push_back((verdict(classifier, inputs(part)) > 0).eq(is_true));
    return torch::cat(parts).to(torch::kCPU, torch::kFloat64);
  };
  return torch::cat({right(fake.held_out, false), right(real.held_out, true)});
}

}  // namespace piddm
