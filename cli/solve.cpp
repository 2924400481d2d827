#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/samples.h"
#include "piddm/core/config.h"
#include "piddm/core/log.h"
#include "piddm/eval/summary.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/task/observation_file.h"

namespace piddm::cli {

namespace {

struct SolveArguments {
  std::string model, task, observe, method, out;
  int64_t n = 0;
  std::optional<uint64_t> mask_seed;
  ObserveOptions reveal;
  bool decode = false, two_valued = false, soft = false;
  std::vector<std::string> settings;
};

json method_options(const SolveArguments& o, const std::string& method, const Model& model) {
  json options = default_options(method, model);
  if (o.soft) options["hard"] = false;
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return options;
}

void solve(const Context& context, const SolveArguments& o) {
  check_output(o.out, {".npz", ".safetensors"}, {o.model, o.observe});
  const auto task = parse_solve_task(o.task);
  const auto model = load_model(o.model, context.device());
  DecodeTotal decoding(*model.pde, o.two_valued);
  const auto mask_seed = o.mask_seed.value_or(context.seed);
  const auto file = read_observation(o.observe, task, *model.pde, mask_seed, o.reveal, o.n);
  if (const int64_t cases = file.observation.mask.size(0); cases < o.n)
    spdlog::warn("--n {}: {} has only {} cases", o.n, o.observe, cases);
  const auto name = o.method.empty() ? default_method(model) : o.method;
  const auto method = make_method(name, task, model, method_options(o, name, model));
  auto solved = method->solve(file.observation, context.seed);
  json report = {
      {"out", o.out},         {"task", o.task},         {"n", solved.x.size(0)},        {"method", method->name()},
      {"seed", context.seed}, {"mask_seed", mask_seed}, {"precision", solved.precision}};
  if (o.decode || o.two_valued) {
    decoding.decode(solved);
    report["decode"] = write_fields(decoding.summary());
  }
  report.update(json(physics_summary(solved, *model.pde)));
  if (file.truth.defined()) report.update(json(error_summary(solved.x, file.truth, *model.pde, model.normalizer)));
  note_divergence(report);
  SampleFile out(o.out, model);
  out.append(solved.x);
  out.write(report);
  context.print(report, format_report(report));
}

}  // namespace

void add_solve(CLI::App& app, Context& context) {
  auto* command =
      add_command(app, context, "solve", "Solve forward, inverse and reconstruction problems with any method");
  auto o = std::make_shared<SolveArguments>();
  command->add_option("model", o->model, "run or model folder")->required();
  command->add_option("--task", o->task, "forward, inverse or reconstruct")->required();
  command
      ->add_option(
          "--observe", o->observe,
          "what is known: fields (.npz; channels may be missing, unknown entries are NaN) or a list of sensors "
          "(.csv, .npz; docs/tasks.md)")
      ->required();
  command->add_option("--n", o->n, "cases to take from the file; 0: all")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_option("--share", o->reveal.share, "complete files, reconstruct: share of the entries revealed")
      ->check(number_above(0, 1))
      ->capture_default_str();
  command
      ->add_option("--points", o->reveal.points,
                   "complete files: reveal this many random entries of each field channel of the task; 0: off")
      ->check(whole_number(0))
      ->capture_default_str();
  command
      ->add_option("--mask-seed", o->mask_seed,
                   "complete files: seed of the entries revealed, apart from that of the start; default: --seed")
      ->check(seed_number());
  command->add_option("--channels", o->reveal.channels, "complete files: reveal these channels only")->delimiter(',');
  command->add_option("--method", o->method, "see `piddm list methods`; default: the model's own");
  command->add_flag("--soft", o->soft, "do not replace observed entries in the result");
  command->add_flag("--decode", o->decode, "re-solve u for the found coefficients");
  command->add_flag("--two-valued", o->two_valued,
                    "first cut a coefficient that has only two values to them, then decode");
  command
      ->add_option("--set", o->settings,
                   "method options, e.g. task.iterations=40; `piddm list methods` has them all (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", o->out, "file to write: .npz or .safetensors")->required();
  command->callback([&context, o] { context.run = [&context, o] { solve(context, *o); }; });
}

}  // namespace piddm::cli
