#include "piddm/tables/demo.h"
#include "piddm/solve/methods/registry.h"

#include "piddm/core/config.h"
#include "piddm/core/device.h"
#include "piddm/core/json_text.h"
#include "piddm/core/log.h"
#include "piddm/data/generate.h"
#include "piddm/eval/evaluate.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/safetensors.h"
#include "piddm/recipe/recipe.h"
#include "piddm/solve/decode.h"
#include "piddm/tables/demo_report.h"
#include "piddm/tables/paper.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

json read_json(const fs::path& file) { return parse_json(read_file(file, 64 << 20), file.string()); }

class Demo {
 public:
  Demo(const DemoOptions& options, const fs::path& out, torch::Device device)
      : options_(options),
        experiment_(options.experiment),
        recipe_(out),
        device_(device),
        pde_(make_pde(experiment_.pde)),
        machine_{{"device", device.str()}, {"threads", at::get_num_threads()}} {}

  json run() {
    const auto train_data = data_step("training data", 0, experiment_.data.n);
    const auto held_out = data_step("held-out data", kHeldOutFirst, options_.held_out);
    const auto teacher = teacher_step(train_data);
    const auto pairs = recipe_.root() / "steps" / ("pairs-of-" + teacher.key);
    const auto distilled = student_step("plain distillation", plain(experiment_), teacher, pairs);
    const auto piddm = student_step("PIDDM student", experiment_, teacher, pairs);
    prepare_judge(train_data, held_out);

    json report = {{"methods", json::object()}, {"tasks", json::object()}};
    auto& methods = report["methods"];
    methods["teacher"] = samples_step("teacher", teacher, json::object(), false);
    methods["distill"] = samples_step("distill", distilled, json::object(), false);
    methods["piddm-1"] = samples_step("piddm-1", piddm, json::object(), false);
    methods["piddm-ref"] = samples_step("piddm-ref", piddm, {{"refine", refinement()}}, false);
    methods["piddm-1-decoded"] = samples_step("piddm-1-decoded", piddm, json::object(), true);
    for (const auto task : {Task::forward, Task::inverse, Task::reconstruct})
      report["tasks"][task_name(task)] = task_step(task, piddm, held_out);
    report["floor"] = floor_step(held_out);
    report["paper"] = paper_generative_rows(pde_->name());
    report["pde"] = describe_pde();
    report["options"] = write_fields(options_);
    report["machine"] = describe_machine();
    write_report(recipe_.root(), report, {held_out.folder, folders_, *pde_});
    return report;
  }

 private:
  static Experiment plain(Experiment experiment) {
    experiment.distill.heads = {};
    experiment.distill.loss = {.lambda = 0};
    return experiment;
  }

  json refinement() const {
    auto options = experiment_.solve.refine;
    options.iterations = options_.refine;
    return write_fields(options);
  }

  json describe_pde() const {
    json out = write_fields(pde_->options());
    out["summary"] = law_of(*pde_);
    out["channels"] = pde_->channel_names();
    out["residual_scale"] = pde_->residual_scale();
    return out;
  }

  StepResult data_step(const std::string& name, int64_t first, int64_t n) {
    const json settings = {
        {"pde", write_fields(experiment_.pde)}, {"seed", experiment_.data.seed}, {"first", first}, {"n", n}};
    return recipe_.step(name, settings, {}, [&](const fs::path& folder) {
      save_dataset(folder / "data.npz", make_dataset(*pde_, static_cast<uint64_t>(experiment_.data.seed), first, n));
    });
  }

  StepResult teacher_step(const StepResult& data) {
    json settings = write_fields(experiment_);
    for (const char* later : {"distill", "solve", "data"}) settings.erase(later);
    settings.update(machine_);
    return recipe_.step("teacher", settings, {data}, [&](const fs::path& folder) {
      train_teacher(experiment_, load_dataset(data.folder / "data.npz"), folder, device_, true);
    });
  }

  StepResult student_step(const std::string& name, const Experiment& asked, const StepResult& teacher,
                          const fs::path& pairs) {
    const auto experiment = with_own_objective(asked);
    json settings = {{"seed", experiment.seed}, {"distill", write_fields(experiment.distill)}};
    return recipe_.step(name, settings, {teacher}, [&](const fs::path& folder) {
      distill_student(experiment, load_model(teacher.folder, device_), folder, pairs, true, name);
    });
  }

  void prepare_judge(const StepResult& train_data, const StepResult& held_out) {
    const auto train = load_dataset(train_data.folder / "data.npz").fields;
    judge_.emplace(pde_, Normalizer::fit(train, pde_->channels()), load_dataset(held_out.folder / "data.npz").fields,
                   train.to(torch::kFloat64).mean(0), device_, options_.solved);
  }

  json samples_step(const std::string& name, const StepResult& trained, const json& method, bool decode) {
    const json settings = {{"n", options_.samples},
                           {"seed", experiment_.seed},
                           {"method", method},
                           {"decode", decode},
                           {"solved", options_.solved}};
    const auto result = recipe_.step("samples " + name, settings, {trained}, [&](const fs::path& folder) {
      const auto model = load_model(trained.folder, device_);
      const auto name_of = default_method(model);
      json own = default_options(name_of, model);
      merge_config(own, method);
      auto samples = make_method(name_of, Task::generate, model, own)
                         ->generate(0, options_.samples, static_cast<uint64_t>(experiment_.seed));
      const auto decoded = decode ? decode_samples(samples, *pde_) : DecodeSummary{};
      json metrics = judge_->samples(samples);
      if (decode)
        metrics.update({{"decode_iterations", decoded.iterations_mean}, {"decode_moved", decoded.moved_mean}});
      save_dataset(
          folder / "samples.npz",
          {{{"pde", pde_->name()}, {"parameters", pde_->options().parameters}}, pde_->channel_names(), samples.x},
          samples.x.scalar_type());
      write_file_atomically(folder / "metrics.json", metrics.dump(2) + "\n");
    });
    folders_[name] = result.folder;
    return read_json(result.folder / "metrics.json");
  }

  json task_step(Task task, const StepResult& student, const StepResult& held_out) {
    const auto name = task_name(task);
    const json settings = {
        {"cases", options_.cases}, {"seed", experiment_.seed}, {"solve", write_fields(experiment_.solve)}};
    const auto result = recipe_.step("task " + name, settings, {student, held_out}, [&](const fs::path& folder) {
      const auto truth = load_dataset(held_out.folder / "data.npz").fields.narrow(0, 0, options_.cases);
      const auto observation = observe(task, truth, *pde_, static_cast<uint64_t>(experiment_.seed));
      const auto model = load_model(student.folder, device_);
      const auto solved =
          PiddmMethod(model, experiment_.solve).solve(observation, static_cast<uint64_t>(experiment_.seed));
      write_safetensors(folder / "solved.safetensors", {{"x", solved.x}, {"truth", truth}, {"mask", observation.mask}});
      write_file_atomically(folder / "metrics.json", judge_->task(solved, truth, observation).dump(2) + "\n");
    });
    folders_[name] = result.folder;
    return read_json(result.folder / "metrics.json");
  }

  json floor_step(const StepResult& held_out) {
    const auto result = recipe_.step(
        "floor", {{"n", options_.samples}, {"seed", experiment_.seed}}, {held_out}, [&](const fs::path& folder) {
          write_file_atomically(
              folder / "metrics.json",
              judge_->floor(options_.samples, static_cast<uint64_t>(experiment_.seed)).dump(2) + "\n");
        });
    return read_json(result.folder / "metrics.json");
  }

  DemoOptions options_;
  Experiment experiment_;
  Recipe recipe_;
  torch::Device device_;
  PdePtr pde_;
  json machine_;
  std::optional<Judge> judge_;
  std::map<std::string, fs::path> folders_;
};

}  // namespace

std::string demo_preset(const std::string& pde) {
  pde_registry().at(pde);
  for (const char* grid : {"-32", "-64", "-128"})
    for (const auto& preset : presets())
      if (preset.name == pde + grid) return preset.name;
  throw UsageError("[{}] has no demo preset", pde);
}

json run_demo(const DemoOptions& options, const fs::path& out, torch::Device device) {
  return Demo(options, out, device).run();
}

}  // namespace piddm
