#include "benchmarks/cost.h"

#include <algorithm>

namespace piddm::bench {

namespace {

/// FLOP of the parts of a forward pass over the batch, and sizes.
struct Parts {
  double transforms, mixing, skip;    // of one layer
  double lift_in, lift_out, project;  // the two maps of the lifting; both of the projection
  double activation;                  // entries of [B,width,H,W]
  double field;                       // entries of [B,C,H,W]
  double layer_parameters, parameters;
};

Parts parts_of(const BenchCase& c) {
  const auto& o = c.fno;
  const auto height = static_cast<double>(c.grid.height()), points = static_cast<double>(c.batch * c.grid.points());
  const auto k1 = static_cast<double>(std::min(o.modes[0], c.grid.height()));
  const auto k2 = static_cast<double>(std::min(o.modes[1], c.grid.width()) / 2 + 1);
  const auto width = static_cast<double>(o.width), channels = static_cast<double>(o.channels);
  const auto lifting = static_cast<double>(o.lifting), projection = static_cast<double>(o.projection);
  const auto layers = c.single_layer() ? 1.0 : static_cast<double>(o.layers), batch = static_cast<double>(c.batch);
  Parts p{};
  p.transforms = 2 * (4 * points * k2 + 8 * batch * height * k1 * k2) * width;
  p.mixing = 8 * batch * k1 * k2 * width * width;
  p.skip = 2 * points * width * width;
  p.lift_in = 2 * points * (channels + 2) * lifting;
  p.lift_out = 2 * points * lifting * width;
  p.project = 2 * points * (width + channels) * projection;
  p.activation = points * width;
  p.field = points * channels;
  p.layer_parameters = (2 * k1 * k2 + 1) * width * width + width;
  const double lift = lifting * (channels + 3 + static_cast<double>(o.time_features)) + width * (lifting + 1);
  p.parameters = layers * p.layer_parameters + lift + projection * (width + 1) + channels * (projection + 1);
  return p;
}

double storage(const BenchCase& c) { return c.precision == Precision::bf16 ? 2 : 4; }

Cost layer_cost(const BenchCase& c) {
  const auto p = parts_of(c);
  Cost cost{p.transforms + p.mixing + p.skip, 4 * (2 * p.activation + p.layer_parameters)};
  if (c.what == "forward") return cost;
  cost.flop += p.transforms + 2 * (p.mixing + p.skip);
  cost.bytes += 4 * (3 * p.activation + 2 * p.layer_parameters);
  return cost;
}

Cost forward_cost(const BenchCase& c) {
  const auto p = parts_of(c);
  const auto layers = static_cast<double>(c.fno.layers), s = storage(c);
  return {layers * (p.transforms + p.mixing + p.skip) + p.lift_in + p.lift_out + p.project,
          s * ((2 * layers + 2) * p.activation + p.parameters) + 8 * p.field};
}

/// Backward adds a read of the gradient and of the layer's input and a write of the next gradient.
Cost backward_cost(const BenchCase& c, bool of_weights) {
  const auto p = parts_of(c);
  const auto layers = static_cast<double>(c.fno.layers), s = storage(c), maps = of_weights ? 2.0 : 1.0;
  return {layers * (p.transforms + maps * (p.mixing + p.skip)) + maps * (p.lift_out + p.project) + p.lift_in,
          s * ((3 * layers + 3) * p.activation + p.parameters) + 8 * p.field + (of_weights ? 4 * p.parameters : 0)};
}

Cost operator+(const Cost& a, const Cost& b) { return {a.flop + b.flop, a.bytes + b.bytes}; }

}  // namespace

std::vector<std::string> works_of(const std::string& bench) {
  if (bench == "spectral") return {"forward", "train"};
  if (bench == "fno") return {"forward", "train", "input-gradient"};
  if (bench == "train") return {"step"};
  return {"teacher", "student", "latent-optimisation"};
}

Cost least_cost(const BenchCase& c) {
  if (c.single_layer()) return layer_cost(c);
  const auto forward = forward_cost(c);
  if (c.what == "forward" || c.what == "student") return forward;
  if (c.what == "teacher") {
    const auto steps = static_cast<double>(c.steps);
    return {steps * forward.flop, steps * forward.bytes};
  }
  if (c.what == "input-gradient" || c.what == "latent-optimisation") return forward + backward_cost(c, false);
  const auto both = forward + backward_cost(c, true);
  if (c.what == "train") return both;
  const auto p = parts_of(c);
  // A step reads five numbers per parameter and writes four; the batch: x0 in, x_t and target out, target in.
  return both + Cost{0, 36 * p.parameters + 16 * p.field};
}

double composed_bytes(const BenchCase& c) {
  const auto& o = c.fno;
  const bool keeps = c.what != "forward" && c.what != "teacher" && c.what != "student";
  const auto points = static_cast<double>(c.batch * c.grid.points());
  const auto of_layer = 8.0 * static_cast<double>(o.width),
             hidden = 3.0 * static_cast<double>(o.lifting + o.projection);
  return 4 * points * ((keeps ? static_cast<double>(o.layers) : 1.0) * of_layer + hidden);
}

}  // namespace piddm::bench
