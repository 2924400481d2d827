#include "piddm/plot/time_plots.h"

#include <algorithm>

namespace piddm {

namespace {

constexpr int64_t kShownTimes = 5;
constexpr size_t kChartColumns = 2;

std::vector<double> numbers(const Tensor& x) {
  const auto values = x.to(torch::kCPU, torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

void check_time(const Pde& pde) {
  require<UsageError>(has_time_axis(pde), "[{}] its fields have no time axis; plot samples or spectra", pde.name());
}

std::string time_label(const GridAxis& axis, double t) {
  return fmt::format("{} = {:.3g}{}{}", axis.name, t, axis.unit.empty() ? "" : " ", axis.unit);
}

LineChart trajectory_chart(const Tensor& u, const std::string& title, const std::string& name, const GridAxes& axes) {
  const auto x = numbers(axes[0].coordinates(u.size(0))), t = numbers(axes[1].coordinates(u.size(1)));
  LineChart chart{.title = title, .x_label = axes[0].label(), .y_label = name};
  for (int64_t i = 0; i < kShownTimes; ++i) {
    const int64_t at = (u.size(1) - 1) * i / (kShownTimes - 1);
    chart.curves.push_back({time_label(axes[1], t[static_cast<size_t>(at)]), x, numbers(u.select(1, at))});
  }
  return chart;
}

}  // namespace

Figure draw_trajectories(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples) {
  check_time(pde);
  std::vector<Panel> charts;
  for (const int64_t sample : samples)
    for (int64_t c = 0; c < pde.num_solution_channels(); ++c)
      charts.emplace_back(trajectory_chart(data.fields[sample][c], fmt::format("sample {}", sample),
                                           data.channels[static_cast<size_t>(c)], pde.axes()));
  return in_rows(pde.name() + " in time", std::move(charts), kChartColumns);
}

std::vector<Figure> draw_frames(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples,
                                int64_t frames) {
  check_time(pde);
  const auto axes = pde.axes();
  const int64_t times = data.fields.size(3), count = std::clamp<int64_t>(frames, 1, times);
  const auto x = numbers(axes[0].coordinates(data.fields.size(2))), t = numbers(axes[1].coordinates(times));
  std::vector<Figure> out;
  for (int64_t f = 0; f < count; ++f) {
    const int64_t at = count == 1 ? times - 1 : (times - 1) * f / (count - 1);
    std::vector<Panel> charts;
    for (int64_t c = 0; c < pde.num_solution_channels(); ++c) {
      LineChart chart{.x_label = axes[0].label(), .y_label = data.channels[static_cast<size_t>(c)]};
      std::vector<Tensor> shown;
      for (const int64_t sample : samples) {
        shown.push_back(data.fields[sample][c]);
        chart.curves.push_back({fmt::format("sample {}", sample), x, numbers(shown.back().select(1, at))});
      }
      const auto all = torch::stack(shown);
      chart.y_range = {all.min().item<double>(), all.max().item<double>()};
      charts.emplace_back(std::move(chart));
    }
    out.push_back(in_rows(fmt::format("{}, {}", pde.name(), time_label(axes[1], t[static_cast<size_t>(at)])),
                          std::move(charts), kChartColumns));
  }
  return out;
}

}  // namespace piddm
