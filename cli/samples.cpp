#include "cli/samples.h"

#include "piddm/core/device.h"
#include "piddm/core/table.h"

namespace piddm::cli {

void save_samples(const std::string& out, const Samples& samples, const Model& model, const json& report) {
  const DataDescription description{.pde = model.pde->name(),
                                    .parameters = model.pde->options().parameters,
                                    .origin = report,
                                    .more = {{"machine", describe_machine()}}};
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
