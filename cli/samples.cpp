#include "cli/samples.h"

#include "piddm/core/device.h"
#include "piddm/core/stopwatch.h"
#include "piddm/eval/table.h"

namespace piddm::cli {

json decode_samples(Samples& samples, const Pde& pde) {
  const Stopwatch watch;
  const auto decoded = pde.decode(samples.x);
  samples.x = decoded.x;
  samples.seconds_per_sample += watch.seconds() / static_cast<double>(samples.x.size(0));
  return {{"iterations_mean", decoded.iterations.to(torch::kFloat64).mean().item<double>()},
          {"iterations_max", decoded.iterations.max().item<int64_t>()},
          {"moved_mean", decoded.moved.mean().item<double>()},
          {"moved_max", decoded.moved.max().item<double>()},
          {"clamped_entries", decoded.clamped.sum().item<int64_t>()}};
}

void add_physics(json& report, const Samples& samples, const Pde& pde) {
  const auto x = samples.x.to(torch::kFloat64);
  const double reference = pde.reference_term(x).square().mean().sqrt().item<double>();
  report["pde_error"] = pde.pde_error(x).mean().item<double>();
  report["rel_residual"] = pde.residual(x).interior.square().mean().sqrt().item<double>() / reference;
  report["nfe"] = samples.nfe;
  report["backward"] = samples.backward;
  report["seconds_per_sample"] = samples.seconds_per_sample;
}

void save_samples(const std::string& out, const Samples& samples, const Model& model, const json& report) {
  json description = {
      {"pde", model.pde->name()}, {"grid", model.pde->grid()}, {"origin", report}, {"machine", describe_machine()}};
  save_dataset(out, {description, model.pde->channel_names(), samples.x}, samples.x.scalar_type());
}

std::string format_report(const json& report) {
  Table table({"what", "value"}, {Align::left, Align::left});
  const json flat = report.flatten();  // items() refers to it: a temporary would not live through the loop
  for (const auto& [key, value] : flat.items()) {
    const std::string text = value.is_number_float() ? format_number(value.get<double>())
                             : value.is_string()     ? value.get<std::string>()
                                                     : value.dump();
    table.add_row({key.substr(1), text});
  }
  return table.text();
}

}  // namespace piddm::cli
