#include <fmt/ranges.h>

#include <array>

#include "cli/command.h"
#include "piddm/core/config.h"
#include "piddm/core/table.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/model/network.h"
#include "piddm/pde/pde.h"
#include "piddm/solve/methods/registry.h"

namespace piddm::cli {

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

Names list_presets() {
  Names out;
  for (const auto& preset : presets()) out.emplace_back(preset.name, preset.summary);
  return out;
}

/// A listing as an object and as text for people.
struct Listing {
  json object = json::object();
  std::string text;
};

Listing table_of(const std::string& what, const Names& names) {
  Listing listing;
  Table table({what, ""}, {Align::left, Align::left});
  for (const auto& [name, summary] : names) {
    listing.object[name] = summary;
    table.add_row({name, summary});
  }
  listing.text = table.text();
  return listing;
}

/// What every PDE has; those with several equations, solutions or two-valued channels have more.
std::string keys_text(const MetricCard& card) {
  const auto channels = card.name + "_CHANNEL";
  if (card.keys == MetricKeys::per_channel) return channels;
  if (card.keys == MetricKeys::per_band) return channels + "_BAND";
  return card.keys == MetricKeys::both ? card.name + ", " + channels : card.name;
}

/// Where a metric is measured: samples, tasks, ensembles.
std::string judged_text(const MetricCard& card) {
  std::vector<std::string> kinds;
  if (card.judged & kSamplesJudged) kinds.emplace_back("samples");
  if (card.judged & kTasksJudged) kinds.emplace_back("tasks");
  if (card.judged & kEnsemblesJudged) kinds.emplace_back("ensembles");
  return fmt::format("{}", fmt::join(kinds, ", "));
}

Listing list_metrics() {
  Listing listing;
  Table table({"metric", "of", "unit", "better", "needs", ""}, std::vector<Align>(6, Align::left));
  for (const auto& card : metric_cards()) {
    const auto better = enum_names(card.better).at(static_cast<size_t>(card.better));
    const auto needs = enum_names(card.needs).at(static_cast<size_t>(card.needs));
    listing.object[card.name] = {{"meaning", card.meaning}, {"keys", keys_text(card)}, {"of", judged_text(card)},
                                 {"unit", card.unit},       {"better", better},        {"needs", needs}};
    table.add_row({keys_text(card), judged_text(card), card.unit, better, needs, card.meaning});
  }
  listing.text = table.text();
  return listing;
}

constexpr int64_t kListedGrid = 32;  // names and parameters do not depend on it

json describe_parameter(const Parameter& p) {
  json out = {{"name", p.name}, {"value", p.value}, {"meaning", p.meaning}};
  if (p.choices.empty()) {
    out["low"] = p.low;
    out["high"] = p.high;
  } else {
    out["choices"] = p.choices;
  }
  return out;
}

std::string role_name(const Channel& channel) { return channel.role == Role::solution ? "solution" : "coefficient"; }

json describe_pde(const Pde& pde, const std::string& summary) {
  json channels = json::array(), parameters = json::array();
  for (const auto& c : pde.channels())
    channels.push_back({{"name", c.name}, {"role", role_name(c)}, {"scalar", c.scalar}});
  for (const auto& p : pde.parameters()) parameters.push_back(describe_parameter(p));
  return {{"summary", summary}, {"channels", channels}, {"parameters", parameters}};
}

std::string channel_text(const Pde& pde) {
  std::vector<std::string> texts;
  for (const auto& c : pde.channels())
    texts.push_back(fmt::format("{} ({}{})", c.name, role_name(c), c.scalar ? ", one number" : ""));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string parameter_text(const Parameter& p) {
  const auto value = p.value.is_string() ? p.value.get<std::string>() : p.value.dump();
  const auto range =
      p.choices.empty() ? fmt::format("{:g} to {:g}", p.low, p.high) : fmt::format("{}", fmt::join(p.choices, ", "));
  return fmt::format("{} = {}   {} ({})", p.name, value, p.meaning, range);
}

Listing list_pdes() {
  Listing listing;
  for (const auto& entry : pde_registry().entries()) {
    const auto pde = make_pde({.name = entry.name, .grid = kListedGrid});
    listing.object[entry.name] = describe_pde(*pde, entry.summary);
    listing.text += fmt::format("{:<15}{}\n{:15}channels: {}\n", entry.name, entry.summary, "", channel_text(*pde));
    for (const auto& p : pde->parameters()) listing.text += fmt::format("{:15}{}\n", "", parameter_text(p));
  }
  listing.text += "and your own, FILE.toml: `piddm pde new NAME` writes one to begin with\n";
  return listing;
}

constexpr std::array kTasks = {Task::generate, Task::forward, Task::inverse, Task::reconstruct};

/// For each task the PDEs a method cannot do it on, with the reason.
json refusals_of(const MethodCard& card) {
  json out = json::object();
  for (const auto task : kTasks) {
    json& reasons = out[task_name(task)] = json::object();
    for (const auto& name : pde_registry().names())
      if (const auto reason = card.refusal(task, *make_pde({name, kListedGrid})); !reason.empty())
        reasons[name] = reason;
  }
  return out;
}

std::string task_text(const json& reasons) {
  const auto names = pde_registry().names();
  if (reasons.empty()) return "yes";
  if (reasons.size() == names.size()) return "-";
  std::vector<std::string> possible;
  for (const auto& name : names)
    if (!reasons.contains(name)) possible.push_back(name);
  return fmt::format("{}", fmt::join(possible, " "));
}

/// One line per reason, with the PDEs it holds for.
std::string reason_text(const json& refusals) {
  std::string text;
  for (const auto& [task, reasons] : refusals.items()) {
    std::vector<std::pair<std::string, std::vector<std::string>>> lines;
    for (const auto& [pde, value] : reasons.items()) {
      const auto reason = value.get<std::string>();
      const auto same =
          std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == reason; });
      if (same == lines.end())
        lines.push_back({reason, {pde}});
      else
        same->second.push_back(pde);
    }
    for (const auto& [reason, pdes] : lines)
      text += fmt::format(
          "  no {} on {}: {}\n", task,
          pdes.size() == pde_registry().names().size() ? "any PDE" : fmt::format("{}", fmt::join(pdes, " ")), reason);
  }
  return text;
}

Listing list_methods() {
  Listing listing;
  Table table({"method", "model", "generate", "forward", "inverse", "reconstruct", ""},
              std::vector<Align>(7, Align::left));
  std::string details;
  for (const auto& card : method_cards()) {
    const std::string model = card.needs ? enum_names(*card.needs).at(static_cast<size_t>(*card.needs)) : "any";
    const json refusals = refusals_of(card);
    listing.object[card.name] = {
        {"summary", card.summary}, {"model", model}, {"refusals", refusals}, {"options", card.options}};
    std::vector<std::string> row = {card.name, model};
    for (const auto& [task, reasons] : refusals.items()) row.push_back(task_text(reasons));
    row.push_back(card.summary);
    table.add_row(row);
    details += fmt::format("\n{}, options for --set:\n{}{}", card.name, card.options, reason_text(refusals));
  }
  listing.text = table.text() + details;
  return listing;
}

Listing lookup(const std::string& what) {
  const std::vector<std::pair<std::string, std::function<Listing()>>> lists = {
      {"pdes", list_pdes},
      {"models", [&] { return table_of(what, list_networks()); }},
      {"methods", list_methods},
      {"metrics", list_metrics},
      {"presets", [&] { return table_of(what, list_presets()); }}};
  std::vector<std::string> known;
  for (const auto& [name, list] : lists) {
    if (name == what) return list();
    known.push_back(name);
  }
  throw UsageError("{}", unknown_name_message("list", what, known));
}

}  // namespace

void add_list(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "list", "List pdes, models, methods, metrics or presets");
  auto what = std::make_shared<std::string>();
  command->add_option("what", *what, "pdes, models, methods, metrics or presets")->required();
  command->callback([&context, what] {
    context.run = [&context, what] {
      const auto listing = lookup(*what);
      context.print(listing.object, listing.text);
    };
  });
}

}  // namespace piddm::cli
