#include "piddm/plot/ensemble_plot.h"

#include <algorithm>

#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "piddm/plot/field_plots.h"
#include "piddm/plot/pde_panels.h"

namespace piddm {

namespace {

constexpr int64_t kMembersDrawn = 2;
constexpr const char* kMembersKey = "ensemble";

NumberStrip scalar_panel(const EnsembleCase& one, int64_t channel, const Channel& about) {
  NumberStrip strip{.title = about.label()};
  strip.label = about.unit;
  if (one.truth.defined()) strip.marks.push_back({"true", scalar_of(one.truth[channel])});
  strip.marks.push_back({"mean", scalar_of(one.mean[channel]), scalar_of(one.deviation[channel])});
  for (int64_t k = 0; k < one.members.size(0); ++k) strip.points.push_back(scalar_of(one.members[k][channel]));
  return strip;
}

using Places = std::vector<std::vector<std::pair<double, double>>>;  ///< entries by channel

void add_sensors(FieldPanel& panel, const Places& places, int64_t channel, const std::string& what) {
  if (static_cast<size_t>(channel) >= places.size()) return;
  const auto& entries = places[static_cast<size_t>(channel)];
  const auto height = panel.field.size(0), width = panel.field.size(1);
  if (static_cast<int64_t>(entries.size()) >= height * width) return;  // a known field has no sensors
  const double dx = (panel.x.high - panel.x.low) / static_cast<double>(height);
  const double dy = (panel.y.high - panel.y.low) / static_cast<double>(width);
  for (const auto& [i, j] : entries)
    panel.sensors.emplace_back(panel.x.low + (i + 0.5) * dx, panel.y.low + (j + 0.5) * dy);
  if (!entries.empty()) panel.title += fmt::format(", {} {}", entries.size(), what);
}

/// Truth, mean and members in the range of the first of them.
FigureRow field_row(const EnsembleCase& one, const PdePtr& pde, int64_t c, const std::string& name) {
  FigureRow row{.label = name};
  std::vector<FieldPanel> fields;
  if (one.truth.defined()) fields.push_back(channel_panel_of(pde, c, "truth", one.truth[c]));
  fields.push_back(channel_panel_of(pde, c, "mean", one.mean[c]));
  for (int64_t k = 0; k < std::min(kMembersDrawn, one.members.size(0)); ++k)
    fields.push_back(channel_panel_of(pde, c, fmt::format("member {}", k), one.members[k][c]));
  const auto range = color_range(one.truth.defined() ? fields.front() : fields.back());
  add_sensors(fields.front(), one.sensors, c, "sensors");
  for (auto& panel : fields) {
    panel.range = range;
    row.panels.emplace_back(std::move(panel));
  }
  auto spread = channel_panel_of(pde, c, "standard deviation", one.deviation[c]);
  spread.range = ColorRange{0, std::max(color_range(spread).second, 1e-300)};
  add_sensors(spread, one.suggested, c, "suggested");
  row.panels.emplace_back(std::move(spread));
  if (one.probability.defined() && pde->channels()[static_cast<size_t>(c)].two_valued) {
    auto panel = panel_of(pde, "probability of the high value", one.probability[c]);
    panel.range = ColorRange{0, 1};
    row.panels.emplace_back(std::move(panel));
  }
  return row;
}

json description_of(const std::filesystem::path& file) {
  if (file.extension() != ".npz" && file.extension() != ".safetensors") return {};
  return read_arrays(file).description;
}

int64_t members_in(const json& description) {
  if (!description.is_object() || !description.contains("origin") || !description["origin"].is_object()) return 0;
  const auto& origin = description["origin"];
  return origin.contains(kMembersKey) && origin[kMembersKey].is_number_integer() ? origin[kMembersKey].get<int64_t>()
                                                                                 : 0;
}

/// The arrays CHANNEL_NAME of a case, [C,H,W]; zeros where a channel has none.
Tensor statistic(const TensorMap& arrays, const Pde& pde, const std::string& name, int64_t number) {
  std::vector<Tensor> fields;
  for (const auto& channel : pde.channel_names()) {
    const auto found = arrays.find(channel + "_" + name);
    const bool fits = found != arrays.end() && found->second.dim() == 3 && number < found->second.size(0);
    require<DataError>(fits || name == "probability", "no array '{}_{}' of case {}", channel, name, number);
    fields.push_back(fits ? found->second[number].to(torch::kFloat64)
                          : torch::zeros({pde.grid().height(), pde.grid().width()}, torch::kFloat64));
  }
  return torch::stack(fields);
}

/// The places under `key`, of this case where they have one.
Places places_in(const json& description, const char* key, size_t channels, int64_t number) {
  Places out(channels);
  const auto list = description.find(key);
  if (list == description.end() || !list->is_array()) return out;
  for (const auto& sensor : *list)
    if (sensor.value("case", number) == number)
      if (const auto c = sensor.value("channel", size_t{0}); c < channels)
        out[c].emplace_back(sensor.value("i", 0.0), sensor.value("j", 0.0));
  return out;
}

}  // namespace

Figure draw_ensemble(const EnsembleCase& one, const PdePtr& pde, const std::string& title) {
  Figure figure{.title = title};
  for (int64_t c = 0; c < pde->num_channels(); ++c) {
    const auto& channel = pde->channels()[static_cast<size_t>(c)];
    if (channel.scalar)
      figure.rows.push_back({.label = channel.name, .panels = {scalar_panel(one, c, channel)}});
    else
      figure.rows.push_back(field_row(one, pde, c, channel.name));
  }
  return figure;
}

bool is_ensemble_file(const std::filesystem::path& file) { return members_in(description_of(file)) > 0; }

Figure draw_ensemble_file(const std::filesystem::path& file, int64_t number, const Tensor& truth) {
  const auto data = load_dataset(file);
  const auto pde = pde_of(data);
  check_matches(data, *pde);
  const auto content = read_arrays(file);
  const int64_t k = members_in(content.description);
  require<DataError>(k > 0 && (number + 1) * k <= data.size(), "{}: has no members of a case {}", file.string(),
                     number);
  EnsembleCase one{.mean = statistic(content.arrays, *pde, "mean", number),
                   .deviation = statistic(content.arrays, *pde, "std", number),
                   .members = data.fields.narrow(0, number * k, k).to(torch::kFloat64),
                   .probability = statistic(content.arrays, *pde, "probability", number),
                   .sensors = places_in(content.description, "sensors", data.channels.size(), number),
                   .suggested = places_in(content.description, "suggested", data.channels.size(), number)};
  if (truth.defined()) {
    require<DataError>(truth.dim() == 4 && number < truth.size(0) && truth[0].sizes() == data.fields[0].sizes(),
                       "the truth has fields {}, the ensemble {}", shape_string(truth), shape_string(data.fields));
    one.truth = truth[number].to(torch::kFloat64);
  }
  return draw_ensemble(one, pde, fmt::format("{}: case {}, {} members", file.filename().string(), number, k));
}

}  // namespace piddm
