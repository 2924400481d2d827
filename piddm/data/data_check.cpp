#include "piddm/data/data_check.h"

#include <algorithm>
#include <cmath>

#include "piddm/data/statistics.h"

namespace piddm {

namespace {

constexpr double kConstraintLimit = 1e-2, kResolveLimit = 1e-4, kFloorFactor = 2;
constexpr int64_t kResolved = 16, kBatch = 64;

json make_check(const std::string& name, double value, const json& limit, const std::string& note = "") {
  const bool pass = limit.is_null() ? std::isfinite(value) : value <= limit.get<double>();
  return {{"name", name}, {"value", value}, {"limit", limit}, {"pass", pass}, {"note", note}};
}

double count(const Tensor& condition) { return static_cast<double>(condition.sum().item<int64_t>()); }

json floor_limit(const Dataset& dataset, const char* key) {
  const auto floor = dataset.description.find("floor");
  if (floor == dataset.description.end() || !floor->is_object()) return nullptr;
  const auto value = floor->find(key);
  if (value == floor->end() || !value->is_number()) return nullptr;
  return kFloorFactor * value->get<double>();
}

void check_values(const Dataset& dataset, const Pde& pde, json& checks) {
  for (size_t c = 0; c < pde.channels().size(); ++c) {
    const auto& channel = pde.channels()[c];
    const auto x = dataset.fields.select(1, static_cast<int64_t>(c));
    if (channel.two_valued) {
      const auto other = x.ne(channel.two_valued->first).logical_and(x.ne(channel.two_valued->second));
      checks.push_back(make_check(fmt::format("{}: values other than {} and {}", channel.name,
                                              channel.two_valued->first, channel.two_valued->second),
                                  count(other), 0));
    }
    if (channel.scalar) {
      const auto differs = x.ne(x.slice(1, 0, 1).slice(2, 0, 1));
      checks.push_back(make_check(channel.name + ": entries that differ in a sample", count(differs), 0));
    }
  }
}

void check_residual(const Dataset& dataset, const Pde& pde, json& checks) {
  const auto statistics = residual_statistics(pde, dataset.fields);
  checks.push_back(make_check("pde_error", statistics.mean_pde_error(), floor_limit(dataset, "pde_error")));
  checks.push_back(make_check("rel_residual", statistics.rel_residual(), floor_limit(dataset, "rel_residual")));
  checks.push_back(make_check("rel_residual, worst sample", statistics.worst_rel_residual(),
                              floor_limit(dataset, "worst_rel_residual"),
                              fmt::format("sample {}", statistics.worst_sample())));
}

/// Mean of the square of each solution channel, summed over the batch: [C_u].
Tensor squares(const Tensor& x, const Pde& pde) {
  return x.narrow(1, 0, pde.num_solution_channels()).square().mean({2, 3}).sum(0);
}

/// a / b of the worst channel.
double worst_ratio(const Tensor& a, const Tensor& b) { return (a / b.clamp_min(1e-300)).max().item<double>(); }

void check_constraint(const Dataset& dataset, const Pde& pde, json& checks) {
  auto moved = torch::zeros({pde.num_solution_channels()}, torch::kFloat64), size = moved.clone();
  for (int64_t first = 0; first < dataset.size(); first += kBatch) {
    const auto x = dataset.fields.slice(0, first, first + kBatch).to(torch::kFloat64);
    moved += squares(pde.constrain(x) - x, pde);
    size += squares(x, pde);
  }
  checks.push_back(make_check("hard constraint, relative", worst_ratio(moved, size), kConstraintLimit));
}

void check_solution(const Dataset& dataset, const Pde& pde, json& checks) {
  const char* name = "re-solve, relative mse(u - u*(a))";
  const auto x = dataset.fields.slice(0, 0, kResolved).to(torch::kFloat64);
  const int64_t n = pde.num_solution_channels();
  const auto u = x.narrow(1, 0, n);
  try {
    const auto error = u - pde.solve(x.narrow(1, n, x.size(1) - n));
    const auto note = fmt::format("mse {:.3g}, {} samples", error.square().mean().item<double>(), x.size(0));
    checks.push_back(make_check(name, worst_ratio(squares(error, pde), squares(u, pde)), kResolveLimit, note));
  } catch (const Error& error) {
    checks.push_back(make_check(name, std::numeric_limits<double>::infinity(), kResolveLimit, error.what()));
  }
}

json describe_channels(const Dataset& dataset) {
  json channels = json::array();
  const auto statistics = channel_statistics(dataset.fields);
  for (size_t c = 0; c < statistics.size(); ++c)
    channels.push_back({{"name", dataset.channels[c]},
                        {"min", statistics[c].min},
                        {"max", statistics[c].max},
                        {"mean", statistics[c].mean},
                        {"std", statistics[c].std}});
  return channels;
}

std::string number_text(const json& value) {
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : "-";
}

}  // namespace

json check_dataset(const Dataset& dataset, const Pde& pde) {
  const torch::NoGradGuard no_grad;
  check_matches(dataset, pde);
  const double broken = count(dataset.fields.isfinite().logical_not());
  json checks = json::array({make_check("non-finite values", broken, 0)});
  json channels = json::array();
  if (broken == 0) {
    channels = describe_channels(dataset);
    check_values(dataset, pde, checks);
    check_residual(dataset, pde, checks);
    check_constraint(dataset, pde, checks);
    check_solution(dataset, pde, checks);
  }
  const bool pass =
      std::all_of(checks.begin(), checks.end(), [](const json& check) { return check.at("pass").get<bool>(); });
  return {{"pass", pass}, {"n", dataset.size()}, {"channels", channels}, {"checks", checks}};
}

std::string format_check(const json& check) {
  std::string text = fmt::format("{:<10} {:>12} {:>12} {:>12} {:>12}\n", "channel", "min", "max", "mean", "std");
  for (const auto& c : check.at("channels"))
    text +=
        fmt::format("{:<10} {:>12} {:>12} {:>12} {:>12}\n", c.at("name").get<std::string>(), number_text(c.at("min")),
                    number_text(c.at("max")), number_text(c.at("mean")), number_text(c.at("std")));
  text += fmt::format("\n{:<40} {:>12} {:>12}\n", "check", "value", "limit");
  for (const auto& c : check.at("checks"))
    text += fmt::format("{:<40} {:>12} {:>12}  {:<6} {}\n", c.at("name").get<std::string>(), number_text(c.at("value")),
                        number_text(c.at("limit")), c.at("pass").get<bool>() ? "ok" : "FAILED",
                        c.at("note").get<std::string>());
  return text + fmt::format("\n{} samples: {}\n", check.at("n").get<int64_t>(),
                            check.at("pass").get<bool>() ? "ok" : "FAILED");
}

}  // namespace piddm
