#include "piddm/eval/evaluate.h"

#include "piddm/data/statistics.h"

namespace piddm {

namespace {

void add_channels(json& out, const std::string& metric, const ChannelMetric& value,
                  const std::vector<std::string>& names) {
  out[metric] = value.mean;
  for (size_t c = 0; c < names.size(); ++c) out[metric + "_" + names[c]] = value.channel[c];
}

void add_work(json& out, const Samples& samples) {
  out["nfe"] = samples.nfe;
  out["backward"] = samples.backward;
  out["seconds_per_sample"] = samples.seconds_per_sample;
}

// Mean of the squared error over the entries that were not given; over all of them where everything was.
double unknown_mse(const Tensor& error, const Tensor& mask) {
  const auto unknown = 1 - mask;
  const auto count = unknown.sum().item<double>();
  return count > 0 ? ((error.square() * unknown).sum().item<double>() / count) : error.square().mean().item<double>();
}

}  // namespace

Judge::Judge(PdePtr pde, Normalizer normalizer, Tensor held_out, Tensor mean_field, int64_t solved)
    : pde_(std::move(pde)),
      normalizer_(std::move(normalizer)),
      held_out_(held_out.to(torch::kFloat64)),
      mean_field_(mean_field.to(torch::kFloat64)),
      solved_(solved) {
  pde_->check_shape(held_out_);
  held_out_z_ = normalizer_.to_network(held_out_);
  reference_rms_ = residual_statistics(*pde_, held_out_).reference_rms();
}

void Judge::add_physics(json& out, const Tensor& x) const {
  const auto statistics = residual_statistics(*pde_, x);
  out["pde_error"] = statistics.mean_pde_error();
  out["rel_residual"] = statistics.rel_residual() * statistics.reference_rms() / reference_rms_;
  if (statistics.boundary.defined()) out["boundary_error"] = statistics.mean_boundary_error();
  const auto some = x.slice(0, 0, solved_), exact = pde_->decode(some).x;
  const auto error = pde_->solution(normalizer_.to_network(some) - normalizer_.to_network(exact));
  out["solution_error"] = error.square().mean().item<double>();
}

json Judge::samples(const Samples& samples) const {
  pde_->check_shape(samples.x);
  const auto x = samples.x.to(torch::kFloat64);
  const auto z = normalizer_.to_network(x);
  json out = {{"n", x.size(0)}, {"n_reference", held_out_.size(0)}};
  add_channels(out, "mmse", mmse(z, held_out_z_), pde_->channel_names());
  add_channels(out, "smse", smse(z, held_out_z_), pde_->channel_names());
  add_physics(out, x);
  add_work(out, samples);
  return out;
}

json Judge::task(const Samples& solved, const Tensor& truth, const Observation& observation) const {
  for (const auto& fields : {solved.x, truth, observation.mask}) pde_->check_shape(fields);
  const auto x = solved.x.to(torch::kFloat64), z = normalizer_.to_network(x);
  const auto true_x = truth.to(torch::kFloat64), true_z = normalizer_.to_network(true_x);
  const auto mean_z = normalizer_.to_network(mean_field_.unsqueeze(0));
  const auto mask = observation.mask.to(torch::kFloat64);
  json out = {{"n", x.size(0)}};
  for (int64_t c = 0; c < pde_->num_channels(); ++c) {
    const auto& channel = pde_->channels()[c];
    const auto known = mask.select(1, c);
    out["mse_" + channel.name] = unknown_mse((z - true_z).select(1, c), known);
    out["mean_field_mse_" + channel.name] = unknown_mse((mean_z - true_z).select(1, c), known);
    if (channel.two_valued)
      out["misclassified"] =
          misclassified(x.select(1, c), true_x.select(1, c), channel.two_valued->first, channel.two_valued->second);
  }
  add_physics(out, x);
  add_work(out, solved);
  return out;
}

json Judge::floor(int64_t n, uint64_t seed) const {
  const auto split = sampling_floor(held_out_z_, n, held_out_.size(0), seed);
  json out = {{"n", n}, {"n_reference", held_out_.size(0)}, {"n_true", held_out_.size(0)}};
  add_channels(out, "mmse", split.mmse, pde_->channel_names());
  add_channels(out, "smse", split.smse, pde_->channel_names());
  add_physics(out, held_out_);
  return out;
}

}  // namespace piddm
