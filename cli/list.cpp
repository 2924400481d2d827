#include <fmt/ranges.h>

#include "cli/command.h"
#include "piddm/core/config.h"
#include "piddm/eval/table.h"
#include "piddm/model/network.h"
#include "piddm/pde/pde.h"
#include "piddm/solve/method.h"

namespace piddm::cli {

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

template <class R>
Names names_of(const R& registry) {
  Names out;
  for (const auto& entry : registry.entries()) out.emplace_back(entry.name, entry.summary);
  return out;
}

Names list_presets() {
  Names out;
  for (const auto& preset : presets()) out.emplace_back(preset.name, preset.summary);
  return out;
}

Names list_metrics() {
  return {{"mmse", "mean square difference of the pixelwise means"},
          {"smse", "mean square difference of the pixelwise standard deviations"},
          {"pde_error", "mean square residual in the PDE's unit"},
          {"rel_residual", "RMS residual over the RMS of a term of the equation"},
          {"solution_error", "mean square distance of u from the solution for the sample's own coefficients"},
          {"mse_u, mse_a", "tasks: mean square error of what was not given"},
          {"misclassified", "tasks: share of wrong cells of a two-valued coefficient"},
          {"nfe, backward", "network evaluations and backward passes a sample"},
          {"seconds_per_sample", "wall time"}};
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

json describe_pde(const Pde& pde, const std::string& summary) {
  json channels = json::array(), parameters = json::array();
  for (const auto& c : pde.channels())
    channels.push_back(
        {{"name", c.name}, {"role", c.role == Role::solution ? "solution" : "coefficient"}, {"scalar", c.scalar}});
  for (const auto& p : pde.parameters()) parameters.push_back(describe_parameter(p));
  return {{"summary", summary}, {"channels", channels}, {"parameters", parameters}};
}

std::string channel_text(const json& channels) {
  std::vector<std::string> texts;
  for (const auto& c : channels)
    texts.push_back(fmt::format("{} ({}{})", c.at("name").get<std::string>(), c.at("role").get<std::string>(),
                                c.at("scalar").get<bool>() ? ", one number" : ""));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string parameter_text(const json& p) {
  const auto value = p.at("value").is_string() ? p.at("value").get<std::string>() : p.at("value").dump();
  const auto range = p.contains("choices")
                         ? fmt::format("{}", fmt::join(p.at("choices").get<std::vector<std::string>>(), ", "))
                         : fmt::format("{:g} to {:g}", p.at("low").get<double>(), p.at("high").get<double>());
  return fmt::format("{} = {}   {} ({})", p.at("name").get<std::string>(), value, p.at("meaning").get<std::string>(),
                     range);
}

Listing list_pdes() {
  Listing listing;
  for (const auto& entry : pde_registry().entries()) {
    const auto pde = make_pde({.name = entry.name, .grid = kListedGrid});
    const auto& about = listing.object[entry.name] = describe_pde(*pde, entry.summary);
    listing.text +=
        fmt::format("{:<15}{}\n{:15}channels: {}\n", entry.name, entry.summary, "", channel_text(about.at("channels")));
    for (const auto& p : about.at("parameters")) listing.text += fmt::format("{:15}{}\n", "", parameter_text(p));
  }
  return listing;
}

Listing lookup(const std::string& what) {
  const std::vector<std::pair<std::string, std::function<Listing()>>> lists = {
      {"pdes", list_pdes},
      {"models", [&] { return table_of(what, list_networks()); }},
      {"methods", [&] { return table_of(what, names_of(method_registry())); }},
      {"metrics", [&] { return table_of(what, list_metrics()); }},
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
