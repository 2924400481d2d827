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

Names lookup(const std::string& what) {
  const std::vector<std::pair<std::string, std::function<Names()>>> lists = {
      {"pdes", [] { return names_of(pde_registry()); }},
      {"models", list_networks},
      {"methods", [] { return names_of(method_registry()); }},
      {"metrics", list_metrics},
      {"presets", list_presets}};
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
      json object = json::object();
      Table table({*what, ""}, {Align::left, Align::left});
      for (const auto& [name, summary] : lookup(*what)) {
        object[name] = summary;
        table.add_row({name, summary});
      }
      context.print(object, table.text());
    };
  });
}

}  // namespace piddm::cli
