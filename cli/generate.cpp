#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/samples.h"
#include "piddm/core/config.h"
#include "piddm/eval/summary.h"
#include "piddm/files/free_space.h"
#include "piddm/model/grid_transfer.h"
#include "piddm/solve/methods/registry.h"

namespace piddm::cli {

namespace {

struct GenerateArguments {
  std::string model, method, out;
  int64_t n = 16, first = 0, refine = 0;
  GridSize grid = 0;
  bool decode = false, two_valued = false;

  bool decodes() const { return decode || two_valued; }
  std::vector<std::string> settings;
};

json method_options(const GenerateArguments& o, const std::string& method, const Model& model) {
  json options = default_options(method, model);
  if (o.refine > 0) {
    require<UsageError>(method == own_method(ModelKind::student),
                        "--refine: only a student can be refined, by its own method");
    options["refine"]["iterations"] = o.refine;
  }
  for (const auto& setting : o.settings) apply_setting(options, setting);
  return options;
}

void generate(const Context& context, const GenerateArguments& o) {
  check_output(o.out, {".npz", ".safetensors"}, {o.model});
  auto model = load_model(o.model, context.device());
  if (o.grid != GridSize(0)) model = on_grid(model, o.grid);
  const auto name = o.method.empty() ? default_method(model) : o.method;
  const auto method = make_method(name, Task::generate, model, method_options(o, name, model));
  SampleFile file(o.out, model);
  PhysicsSummary physics(*model.pde);
  DecodeTotal decoding(*model.pde, o.two_valued);
  std::string precision;
  const int64_t bytes = model.pde->num_channels() * model.pde->grid().points() * (o.decodes() ? 8 : 4);
  require_free_space(o.out, 2 * static_cast<double>(o.n) * static_cast<double>(bytes));
  method->generate(o.first, o.n, context.seed, [&](Samples& samples) {
    if (o.decodes()) decoding.decode(samples);
    physics.add(samples);
    precision = samples.precision;
    file.append(samples.x);
  });
  json report = {{"out", o.out},
                 {"n", o.n},
                 {"grid", model.pde->grid().to_json()},
                 {"method", method->name()},
                 {"seed", context.seed},
                 {"first", o.first},
                 {"precision", precision}};
  if (o.decodes()) report["decode"] = write_fields(decoding.summary());
  report.update(json(physics.scores()));
  note_divergence(report);
  file.write(report);
  context.print(report, format_report(report));
}

}  // namespace

void add_generate(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "generate", "Generate samples with any method");
  auto o = std::make_shared<GenerateArguments>();
  command->add_option("model", o->model, "run or model folder")->required();
  command->add_option("--n", o->n, "samples")->check(whole_number(1, kMostSamples))->capture_default_str();
  command->add_option("--first", o->first, "number of the first sample of the seed's stream")
      ->check(whole_number(0, kLargestFirst))
      ->capture_default_str();
  add_grid_option(*command, o->grid,
                  "points per side (64, or 64x32), where they differ from those the student was trained on: the same "
                  "samples on another grid");
  command->add_option("--method", o->method, "see `piddm list methods`; default: the model's own");
  command->add_option("--refine", o->refine, "steps of latent refinement")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_flag("--decode", o->decode,
                    "re-solve u for the sample's own coefficients: the equation holds to round-off");
  command->add_flag("--two-valued", o->two_valued,
                    "first cut a coefficient that has only two values to them, then decode: both are exact");
  command
      ->add_option("--set", o->settings,
                   "method options, e.g. refine.step=0.1 or steps=50; `piddm list methods` has them all (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--out", o->out, "file to write: .npz or .safetensors")->required();
  command->callback([&context, o] { context.run = [&context, o] { generate(context, *o); }; });
}

}  // namespace piddm::cli
