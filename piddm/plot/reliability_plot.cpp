#include "piddm/plot/reliability_plot.h"

namespace piddm {

Figure draw_reliability(const std::vector<Reliability>& channels, const std::string& title) {
  Figure figure{.title = title};
  for (const auto& channel : channels) {
    LineChart chart{.title = "Reliability of " + channel.channel,
                    .x_label = "share that the interval states",
                    .y_label = "share of the truth in it",
                    .curves = channel.observed,
                    .y_range = ColorRange{0, 1}};
    for (auto& curve : chart.curves) curve.x = channel.stated;
    chart.curves.push_back({"perfect", channel.stated, channel.stated});
    auto& row = figure.rows.emplace_back(FigureRow{.label = channel.channel});
    row.panels.emplace_back(std::move(chart));
    if (channel.ranks.empty()) continue;
    BarChart ranks{.title = "Rank of the truth among the members", .y_label = "share of the cases"};
    for (size_t b = 0; b < channel.ranks.front().values.size(); ++b) ranks.groups.push_back(std::to_string(b + 1));
    ranks.series = channel.ranks;
    row.panels.emplace_back(std::move(ranks));
  }
  return figure;
}

}  // namespace piddm
