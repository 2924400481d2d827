#include "cli/command.h"
#include "cli/samples.h"
#include "piddm/core/config.h"
#include "piddm/solve/observation_file.h"

namespace piddm::cli {

namespace {

struct Options {
  std::string model, task, observe, method, out;
  int64_t n = 0;
  double share = 0.2;
  bool decode = false, soft = false;
  std::vector<std::string> settings;
};

json method_options(const Options& o, const Model& model) {
  json options = model.provenance.value("experiment", json::object()).value("solve", json::object());
  if (o.soft) options["hard"] = false;
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return options;
}

json errors_of(const Samples& solved, const ObservationFile& file, const Model& model) {
  json out = json::object();
  const auto error = (model.normalizer.to_network(solved.x.to(torch::kFloat64)) -
                      model.normalizer.to_network(file.truth.to(torch::kFloat64)))
                         .square();
  for (int64_t c = 0; c < model.pde->num_channels(); ++c)
    out["mse_" + model.pde->channels()[c].name] = error.select(1, c).mean().item<double>();
  return out;
}

void solve(const Context& context, const Options& o) {
  check_output(o.out, {".npz", ".safetensors"});
  const auto task = parse_task(o.task);
  const auto model = load_model(o.model, context.device());
  const auto file = read_observation(o.observe, task, *model.pde, context.seed, o.share, o.n);
  const auto method =
      method_registry().at(o.method.empty() ? default_method(model) : o.method)(model, method_options(o, model));
  auto solved = method->solve(file.observation, context.seed);
  json report = {
      {"out", o.out}, {"task", o.task}, {"n", solved.x.size(0)}, {"method", method->name()}, {"seed", context.seed}};
  if (o.decode) report["decode"] = decode_samples(solved, *model.pde);
  add_physics(report, solved, *model.pde);
  if (file.truth.defined()) report.update(errors_of(solved, file, model));
  save_samples(o.out, solved, model, report);
  context.print(report, format_report(report));
}

}  // namespace

void add_solve(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "solve", "Solve forward, inverse and reconstruction problems with a student");
  auto o = std::make_shared<Options>();
  command->add_option("model", o->model, "run or model folder of a student")->required();
  command->add_option("--task", o->task, "forward, inverse or reconstruct")->required();
  command
      ->add_option("--observe", o->observe,
                   "data file (.npz) with what is known: channels may be missing, unknown entries are NaN")
      ->required();
  command->add_option("--n", o->n, "cases to take from the file; 0: all")->capture_default_str();
  command->add_option("--share", o->share, "reconstruct, complete files: share of the entries revealed")
      ->capture_default_str();
  command->add_option("--method", o->method, "see `piddm list methods`");
  command->add_flag("--soft", o->soft, "do not replace observed entries in the result");
  command->add_flag("--decode", o->decode, "re-solve u for the found coefficients");
  command->add_option("--set", o->settings, "method options, e.g. task.iterations=40 (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", o->out, "file to write: .npz or .safetensors")->required();
  command->callback([&context, o] { context.run = [&context, o] { solve(context, *o); }; });
}

}  // namespace piddm::cli
