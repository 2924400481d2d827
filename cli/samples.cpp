#include "cli/samples.h"

#include "piddm/core/device.h"
#include "piddm/core/table.h"
#include "piddm/data/data_file.h"
#include "piddm/data/generate.h"
#include "piddm/eval/divergence.h"
#include "piddm/eval/metric_registry.h"

namespace piddm::cli {

SampleFile::SampleFile(std::string path, const Model& model) : path_(std::move(path)), model_(model) {}

void SampleFile::append(const Tensor& x) {
  const auto channels = model_.pde->channel_names();
  check_finite(x, channels, fmt::format("{}, samples from {}", path_, n_));
  dtype_ = x.scalar_type();
  for (size_t c = 0; c < channels.size(); ++c) {
    if (n_ == 0) spools_.push_back(std::make_unique<Spool>(std::filesystem::path(path_).parent_path(), dtype_));
    spools_[c]->append(x.select(1, static_cast<int64_t>(c)));
  }
  n_ += x.size(0);
}

void SampleFile::write(const json& report, TensorMap arrays, const json& more) const {
  json keys = more;
  keys["machine"] = describe_machine();
  auto description = declared_pde(*model_.pde);
  description.origin = report;
  description.more = keys;
  const auto channels = model_.pde->channel_names();
  DataFile file{.arrays = std::move(arrays),
                .description = write_description(description, channels, n_, model_.pde->grid(), dtype_)};
  for (size_t c = 0; c < channels.size(); ++c) file.arrays.emplace(channels[c], spools_[c]->map());
  write_data_file(path_, file);
}

void note_divergence(json& report) {
  if (const auto why = divergence(report.get<Scores>()); !why.empty()) report[kDiverged] = why;
}

std::string format_report(const json& report) {
  const auto scores = report.get<Scores>();
  const bool diverged = report.contains(kDiverged);
  Table table({"what", "value"}, {Align::left, Align::left});
  const json flat = report.flatten();  // items() refers to it: a temporary would not live through the loop
  for (const auto& [key, value] : flat.items()) {
    const auto name = key.substr(1);
    const std::string text = value.is_number_float() && find_metric(name) ? score_text(scores, name, diverged)
                             : value.is_number_float()                    ? format_number(value.get<double>())
                             : value.is_string()                          ? value.get<std::string>()
                                                                          : value.dump();
    table.add_row({name, text});
  }
  return table.text();
}

}  // namespace piddm::cli
