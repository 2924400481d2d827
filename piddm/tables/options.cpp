#include "piddm/tables/options.h"

#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"

namespace piddm {

namespace {

constexpr int64_t kSnapshots = 5;

TableOptions smoke() {
  TableOptions o;
  o.samples = 64, o.cases = 4, o.slow_samples = 4, o.slow_cases = 2, o.starts = 2;
  o.judge = {.held_out = 128, .solved = 16, .resamples = 20};
  o.preset = "-32";
  o.experiment = parse_toml(R"(
    data = { n = 256 }
    pde = { grid = 16 }
    model = { width = 16, modes = [6, 6], layers = 2, lifting = 16, projection = 16 }
    train = { steps = 150, batch = 16 }
    solve = { task = { iterations = 20 } }
    [distill]
    pairs = { steps = 20, chunk = 64, every = 50, pool = 3, held_out = 32 }
    loss = { physics_ramp = 20 }
    train = { steps = 150, batch = 16, validate_every = 0 }
    reflow = { steps = 50, batch = 16, lr = 2e-3, ema = 0.99 }
  )",
                            "smoke");
  o.by_pde = {{"burgers", {{"pde", {{"grid", 32}}}}}};
  o.by_method = parse_toml(R"(
    teacher = { steps = 20 }
    pidm = { steps = 20 }
    eci = { steps = 20, mixing = 2 }
    diffusionpde = { steps = 20 }
    cocogen = { steps = 20, last = 4 }
    pcfm = { steps = 10 }
    dflow = { steps = 5, task = { iterations = 3 } }
  )",
                           "smoke");
  o.networks = parse_toml(R"(
    unet = { width = 8, multipliers = [1, 2], blocks = 1, attention = 1, head_width = 8, groups = 4 }
    autoencoder = { width = 8, multipliers = [1, 2], blocks = 1, groups = 4 }
  )",
                          "smoke");
  return o;
}

/// 100 evaluations as in the paper, at times that smooth fields need (process/time_grid.h).
json methods_on_a_gpu() {
  json out;
  for (const char* method : {"eci", "diffusionpde", "cocogen", "dflow", "pcfm"})
    out[method] = {{"spacing", "quadratic"}};
  out["classical"] = {{"batch", 64}};  // its solves are bound by launches
  for (const char* method : {"teacher", "pidm"})
    out[method] = {{"integrator", "heun"}, {"steps", 50}, {"spacing", "quadratic"}};
  return out;
}

TableOptions small() {
  TableOptions o;
  o.by_method = methods_on_a_gpu();
  o.samples = 512, o.cases = 32, o.slow_samples = 32, o.slow_cases = 8, o.starts = 4;
  o.judge = {.held_out = 1024, .solved = 64, .resamples = 100};
  o.experiment = parse_toml(R"(
    data = { n = 8192 }
    pde = { grid = 64 }
    model = { width = 32, modes = [24, 24], layers = 4, lifting = 128, projection = 128 }
    train = { steps = 4000, batch = 128, adam = { lr = 2e-3 } }
    pidm = { precision = "bf16" }
    [distill]
    pairs = { chunk = 1024, every = 300, pool = 6 }
    train = { steps = 3000, batch = 128, validate_every = 500 }
    reflow = { steps = 1500, batch = 128, lr = 5e-4, ema = 0.999 }
  )",
                            "small");
  o.by_pde = {{"darcy", {{"distill", {{"loss", {{"lambda", 10}}}}}}}};  // the preset's 40 is for spacings half as wide
  return o;
}

TableOptions paper() {
  TableOptions o;
  o.by_method = methods_on_a_gpu();
  o.experiment = parse_toml(R"(
    train = { steps = 10000 }
    pidm = { precision = "bf16" }
    [distill]
    train = { steps = 16000 }
    reflow = { steps = 4000, batch = 128, lr = 3e-4, ema = 0.999 }
  )",
                            "paper");
  o.by_pde = {
      {"darcy",
       {{"pidm", {{"lambda", 10}}}}}};  // the paper's; PIDM and D-Flow have no head that would bear the student's
  return o;
}

}  // namespace

TableOptions table_options(Scale scale) {
  return scale == Scale::smoke ? smoke() : scale == Scale::small ? small() : paper();
}

Experiment table_experiment(const TableOptions& options, const std::string& pde, const json& overlay) {
  pde_registry().at(pde);
  const auto named = [&](const std::string& suffix) {
    for (const auto& preset : presets())
      if (preset.name == pde + suffix) return true;
    return false;
  };
  const auto suffix = named(options.preset) ? options.preset : "-64";  // Burgers has no coarser one
  json config = load_config(pde + suffix);
  merge_config(config, options.experiment);
  merge_config(config, options.by_pde.value(pde, json::object()));
  merge_config(config, overlay);
  auto experiment = parse_experiment(config);
  require<UsageError>(experiment.pde.name == pde, "experiment.pde.name: choose PDEs of a table by pdes=[\"{}\"]",
                      experiment.pde.name);
  require<UsageError>(experiment.data.path.empty(),
                      "data.path: tables generate their data from the PDE's law; for a file of your own use train, "
                      "distill and compare");
  if (experiment.train.snapshots.empty() && experiment.train.steps >= kSnapshots)
    for (int64_t i = 1; i < kSnapshots; ++i)
      experiment.train.snapshots.push_back(experiment.train.steps * i / kSnapshots);
  return experiment;
}

}  // namespace piddm
