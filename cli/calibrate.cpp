#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/core/table.h"
#include "piddm/data/dataset.h"
#include "piddm/eval/calibration.h"
#include "piddm/experiment/experiment.h"
#include "piddm/solve/methods/registry.h"

namespace piddm::cli {

namespace {

struct CalibrateArguments {
  CalibrationOptions work;
  std::string model, task = "inverse", data, method;
  int64_t cases = 64;
  std::vector<std::string> settings;
};

/// The first cases of the file, or held-out samples of the law.
Tensor truth_of(const CalibrateArguments& o, const Pde& pde) {
  require<UsageError>(!o.data.empty() || pde.has_law(), "[{}] has no law to draw cases from: add --data FILE",
                      pde.name());
  if (o.data.empty()) return pde.sample(0, kHeldOutFirst, o.cases);
  const auto data = load_dataset(o.data);
  check_matches(data, pde);
  return data.fields.narrow(0, 0, std::min(o.cases, data.size()));
}

json to_json(const ChannelCalibration& c) {
  json out = {{"error_of", c.cells ? "cells" : "field"}, {"error_of_one", c.one}, {"error_of_mean", c.mean}};
  if (!c.asked) return out;
  out.push_back({"fair_crps", c.crps});
  out.push_back({"covered", c.coverage});
  out.push_back({"covered_nominal", c.nominal});
  out.push_back({"spread_over_skill", c.spread_skill});
  return out;
}

std::string text_of(const Calibration& result) {
  Table table({"channel", "error", "one draw", "mean", "fair CRPS", "covered", "nominal", "spread/skill"});
  for (const auto& c : result.channels) {
    std::vector<std::string> cells = {c.channel, c.cells ? "wrong cells" : "relative L2", format_number(c.one),
                                      format_number(c.mean)};
    for (const double value : {c.crps, c.coverage, c.nominal, c.spread_skill})
      cells.push_back(c.asked ? format_number(value) : "-");
    table.add_row(cells);
  }
  return table.text() +
         fmt::format("{} evaluations and {} s per draw\n", format_number(result.nfe), format_number(result.seconds));
}

void run_calibrate(const Context& context, CalibrateArguments o) {
  o.work.task = parse_solve_task(o.task);
  o.work.seed = context.seed;
  const auto model = load_model(o.model, context.device());
  const auto name = o.method.empty() ? default_method(model) : o.method;
  json options = default_options(name, model);
  for (const auto& setting : o.settings) apply_setting(options, setting);
  const auto truth = truth_of(o, *model.pde);
  const auto method = make_method(name, o.work.task, model, options);
  const auto result = calibrate(*method, model, truth, o.work);
  json report = {{"task", o.task},       {"points", o.work.reveal.points}, {"noise", o.work.noise},
                 {"method", name},       {"cases", truth.size(0)},         {"members", o.work.members},
                 {"seed", context.seed}, {"evaluations", result.nfe},      {"seconds_per_draw", result.seconds}};
  for (const auto& channel : result.channels) report["channels"][channel.channel] = to_json(channel);
  context.print(report, text_of(result));
}

}  // namespace

void add_calibrate(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "calibrate", "Judge the answers to sparse, noisy sensors as draws from the posterior");
  auto o = std::make_shared<CalibrateArguments>();
  auto& work = o->work;
  command->add_option("model", o->model, "run or model folder")->required();
  command->add_option("--task", o->task, "forward, inverse or reconstruct")->capture_default_str();
  command
      ->add_option("--points", work.reveal.points, "random entries of each field channel of the task; 0: all of them")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_option("--noise", work.noise, "sigma of their values, in standard deviations of the channel")
      ->capture_default_str();
  command->add_option("--cases", o->cases, "cases")->check(whole_number(1))->capture_default_str();
  command->add_option("--members", work.members, "answers to each of them")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--data", o->data,
                      "file of whole samples to take the cases from; default: held-out samples of "
                      "the PDE's law");
  command->add_option("--method", o->method, "see `piddm list methods`; default: the model's own");
  command->add_option("--set", o->settings, "method options, e.g. estimate=draw (repeatable)")->allow_extra_args(false);
  command->callback([&context, o] { context.run = [&context, o] { run_calibrate(context, *o); }; });
}

}  // namespace piddm::cli
