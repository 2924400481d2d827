#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/core/table.h"
#include "piddm/data/dataset.h"
#include "piddm/eval/ensembles/calibration.h"
#include "piddm/eval/ensembles/conformal.h"
#include "piddm/eval/ensembles/law_shift.h"
#include "piddm/eval/ensembles/spread_factors.h"
#include "piddm/experiment/experiment.h"
#include "piddm/plot/reliability_plot.h"
#include "piddm/solve/methods/registry.h"

namespace piddm::cli {

namespace {

constexpr int64_t kFittedFirst = kHeldOutFirst + 500'000;  // samples of the law that the factors are found from
constexpr std::array<double, 4> kPrinted = {0.5, 0.8, 0.9, 0.95};

struct CalibrateArguments {
  CalibrationOptions work;
  std::string model, task = "inverse", data, method, plot;
  int64_t cases = 64;
  bool store = false, shift = false;
  std::vector<std::string> settings;
};

void check_arguments(const Context& context, const CalibrateArguments& o) {
  require<UsageError>(!o.store || o.work.members >= kFewestMembers, "--store: needs --members {} or more, got {}",
                      kFewestMembers, o.work.members);
  require<UsageError>(!o.store || o.cases >= kFewestCases, "--store: needs --cases {} or more, got {}", kFewestCases,
                      o.cases);
  require<UsageError>(!o.store || !o.shift, "--store and --shift: one at a time");
  require<UsageError>(o.work.members >= 2 || !o.shift, "--shift judges ensembles: needs --members 2 or more");
  if (!o.plot.empty()) check_picture(context, o.plot, {o.model, o.data});
}

/// Cases to judge by: the first of the file, or held-out samples of the law; and as many others to find factors from.
struct Cases {
  Tensor judged, fitted;
};

Cases cases_of(const CalibrateArguments& o, const Pde& pde) {
  require<UsageError>(!o.data.empty() || pde.has_law(), "[{}] has no law to draw cases from: add --data FILE",
                      pde.name());
  if (o.data.empty())
    return {pde.sample(0, kHeldOutFirst, o.cases), o.store ? pde.sample(0, kFittedFirst, o.cases) : Tensor()};
  const auto data = load_dataset(o.data);
  check_matches(data, pde);
  if (!o.store) return {data.fields.narrow(0, 0, std::min(o.cases, data.size())), {}};
  const int64_t n = std::min(o.cases, data.size() / 2);
  require<DataError>(n >= kFewestCases, "{}: --store needs {} cases to find the factor and as many others to judge it",
                     o.data, kFewestCases);
  return {data.fields.narrow(0, 0, n), data.fields.narrow(0, n, n)};
}

MethodPtr method_of(const CalibrateArguments& o, const std::string& name, const Model& model) {
  json options = default_options(name, model);
  const auto& card = method_card(name);
  const auto reason = card.draw_refusal(o.work.task, *model.pde);
  require<UsageError>(reason.empty() || !o.store, "[{}] no ensemble of it: {}", name, reason);
  if (reason.empty() && o.work.members > 1) options.update(card.draw_options);
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return make_method(name, o.work.task, model, options);
}

json to_json(const ChannelCalibration& c) {
  json out = {{"error_of", c.cells ? "cells" : "field"}, {"error_of_one", c.one}, {"error_of_mean", c.mean}};
  if (!c.asked) return out;
  out["fair_crps"] = c.crps;
  out["covered"] = c.coverage;
  out["covered_nominal"] = c.nominal;
  out["spread_over_skill"] = c.spread_skill;
  for (const double share : kPrinted) {
    const auto key = fmt::format("{:.0f}", 100 * share);
    if (!c.covered.empty()) out["intervals"][key] = c.at(c.covered, share);
    if (!c.covered_widened.empty()) out["intervals_widened"][key] = c.at(c.covered_widened, share);
  }
  for (const auto& test : c.ranks)
    out["ranks"][test.quantity] = {{"counts", test.counts}, {"chi2", test.chi2}, {"p_value", test.p_value}};
  if (c.gap)
    out["exact_posterior"] = {{"mean_off", c.gap->mean},
                              {"spread_ratio", c.gap->spread},
                              {"wasserstein", c.gap->wasserstein},
                              {"wasserstein_of_exact_draws", c.gap->floor}};
  return out;
}

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f}", 100 * share) : "-"; }

std::string scores_text(const Calibration& result, bool widened) {
  std::vector<std::string> header = {"channel", "error", "one draw", "mean", "fair CRPS", "spread/skill"};
  for (const double share : kPrinted) header.push_back(fmt::format("in {:.0f} %", 100 * share));
  if (widened) header.push_back("widened");
  Table table(header);
  const auto add = [&](const ChannelCalibration& c, const std::string& name) {
    std::vector<std::string> cells = {name, c.cells ? "wrong cells" : "relative L2", format_number(c.one),
                                      format_number(c.mean)};
    for (const double value : {c.crps, c.spread_skill}) cells.push_back(c.asked ? format_number(value) : "-");
    for (const double share : kPrinted) cells.push_back(percent(c.at(c.covered, share)));
    if (widened) cells.push_back(percent(c.at(c.covered_widened, kStatedShare)));
    table.add_row(cells);
  };
  for (const auto& c : result.channels) add(c, c.channel);
  for (auto c : result.exact) {
    c.covered_widened.clear();
    add(c, c.channel + ", exact posterior");
  }
  return table.text();
}

std::string ranks_text(const Calibration& result) {
  Table table({"ranks of the truth", "quantity", "bins", "chi^2", "p"},
              {Align::left, Align::left, Align::right, Align::right, Align::right});
  for (const auto& c : result.channels)
    for (const auto& test : c.ranks)
      table.add_row({c.channel, test.quantity, std::to_string(test.counts.size()), format_number(test.chi2),
                     format_number(test.p_value)});
  return table.num_rows() == 0 ? "" : "\n" + table.text();
}

std::string exact_text(const Calibration& result) {
  Table table({"against the exact posterior", "mean off by", "spread / exact", "W2", "W2 of exact draws"});
  for (const auto& c : result.channels)
    if (c.gap)
      table.add_row({c.channel, format_number(c.gap->mean), format_number(c.gap->spread),
                     format_number(c.gap->wasserstein), format_number(c.gap->floor)});
  return table.num_rows() == 0 ? "" : "\n" + table.text();
}

Figure picture_of(const Calibration& result, const std::string& title) {
  std::vector<Reliability> channels;
  for (const auto& c : result.channels) {
    if (c.covered.empty()) continue;
    auto& one = channels.emplace_back(Reliability{.channel = c.channel});
    one.stated.assign(kIntervalShares.begin(), kIntervalShares.end());
    one.observed.push_back({.name = "members", .y = c.covered});
    if (!c.covered_widened.empty()) one.observed.push_back({.name = "widened", .y = c.covered_widened});
    for (const auto& test : c.ranks) {
      auto& bars = one.ranks.emplace_back(BarSeries{.name = test.quantity});
      double sum = 0;
      for (const auto count : test.counts) sum += static_cast<double>(count);
      for (const auto count : test.counts) bars.values.push_back(static_cast<double>(count) / sum);
    }
  }
  require<UsageError>(!channels.empty(), "--plot: no unknown field with more than two values, or only one member");
  return draw_reliability(channels, title);
}

/// Finds the factors from cases of their own and keeps them beside the model.
SpreadFactors store_factors(const CalibrateArguments& o, Method& method, const Model& model, const Tensor& fitted,
                            uint64_t seed) {
  auto work = o.work;
  work.seed = seed + 1;  // other places of sensors than those of the cases that are judged
  SpreadFactors factors{.method = method.name(), .task = o.task};
  for (const auto& c : calibrate(method, model, fitted, work).channels)
    if (c.factor > 0) factors.channels.emplace_back(c.channel, c.factor);
  require<UsageError>(!factors.channels.empty(), "--store: no unknown channel with more than two values");
  factors.found = {{"cases", fitted.size(0)},      {"members", work.members}, {"seed", work.seed},
                   {"points", work.reveal.points}, {"noise", work.noise},     {"share", kStatedShare}};
  store_spread(o.model, factors);
  return factors;
}

/// One law per row: that of the training, and what is wrong by a factor of two.
std::string add_shifts(json& report, const CalibrateArguments& o, Method& method, const Model& model,
                       const Tensor& truth, const Calibration& trained) {
  Table table({"law", "channel", "mean", "fair CRPS", "spread/skill", "in 90 %", "widened", "warned"});
  const auto add = [&](const std::string& law, const Calibration& result) {
    auto& entry = report["shift"][law] = {{"warned", result.warned}};
    for (const auto& c : result.channels) {
      entry["channels"][c.channel] = to_json(c);
      if (c.asked)
        table.add_row({law, c.channel, format_number(c.mean), format_number(c.crps), format_number(c.spread_skill),
                       percent(c.at(c.covered, kStatedShare)), percent(c.at(c.covered_widened, kStatedShare)),
                       percent(result.warned)});
    }
  };
  add("as given", trained);
  for (const auto shift : {LawShift::roughness, LawShift::contrast})
    add(enum_names(shift).at(static_cast<size_t>(shift)),
        calibrate(method, model, shifted(truth, shift, *model.pde), o.work));
  if (o.work.noise == 0) return "\n" + table.text() + "noise is exact here: add --noise for its row\n";
  auto louder = o.work;
  louder.noise_factor = 2;
  add("noise", calibrate(method, model, truth, louder));
  return "\n" + table.text();
}

void run_calibrate(const Context& context, CalibrateArguments o) {
  check_arguments(context, o);
  o.work.task = parse_solve_task(o.task);
  o.work.seed = context.seed;
  const auto model = load_model(o.model, context.device());
  const auto name = o.method.empty() ? default_method(model) : o.method;
  const auto method = method_of(o, name, model);
  const auto cases = cases_of(o, *model.pde);
  const auto factors = o.store ? store_factors(o, *method, model, cases.fitted, context.seed)
                               : stored_spread(o.model, method->name(), o.task);
  if (factors) o.work.factors = factors->channels;
  const auto result = calibrate(*method, model, cases.judged, o.work);
  json report = {{"task", o.task},         {"points", o.work.reveal.points}, {"noise", o.work.noise},
                 {"method", name},         {"cases", cases.judged.size(0)},  {"members", o.work.members},
                 {"seed", context.seed},   {"evaluations", result.nfe},      {"seconds_per_draw", result.seconds},
                 {"warned", result.warned}};
  for (const auto& channel : result.channels) report["channels"][channel.channel] = to_json(channel);
  for (const auto& channel : result.exact) report["exact_posterior"][channel.channel] = to_json(channel);
  auto text = scores_text(result, factors.has_value()) + ranks_text(result) + exact_text(result);
  if (o.shift) text += add_shifts(report, o, *method, model, cases.judged, result);
  text += fmt::format("\n{} evaluations and {} s per draw\n", format_number(result.nfe), format_number(result.seconds));
  if (factors) {
    for (const auto& [channel, factor] : factors->channels) report["factors"][channel] = factor;
    std::string list;
    for (const auto& [channel, factor] : factors->channels)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", channel, format_number(factor));
    text += fmt::format("intervals of the task {} are widened by {}{}\n", o.task, list,
                        o.store ? ": stored in the model, used by `piddm solve --ensemble`" : "");
  }
  if (!o.plot.empty())
    report["plot"] =
        write_picture(picture_of(result, fmt::format("{}, {}", o.model, o.task)), o.plot, picture_style().dpi).string();
  context.print(report, text);
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
  command->add_flag("--store", o->store,
                    "find from as many other cases by how much intervals must be widened to hold the truth as often as "
                    "they say, and keep it in the model: `solve --ensemble` widens its quantiles by it");
  command->add_flag("--shift", o->shift,
                    "the same for laws that are wrong by a factor of two in roughness, contrast and noise");
  command->add_option("--plot", o->plot, "picture of stated and observed shares and of ranks: .png, .svg or .pdf");
  add_picture_options(*command, context);
  command->callback([&context, o] { context.run = [&context, o] { run_calibrate(context, *o); }; });
}

}  // namespace piddm::cli
