// What holds for every objective: physics on and off, any PDE and process, the same bits after a restart.

#include "piddm/distill/objectives.h"

#include "piddm/model/weights.h"
#include "piddm/train/trainer.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kObjectivesSeed = 71;
constexpr int64_t kSteps = 7;

DistillOptions quick(const std::string& objective = "regression") {
  DistillOptions options;
  options.choose(objective);
  options.heads = testing::all_heads();
  options.pairs = {.steps = 3, .chunk = 4, .every = 3, .pool = 2, .held_out = 3};
  options.loss = {.lambda = 3, .physics_ramp = 0};
  if (objective == "dmd2") options.own = DmdOptions{.critic_steps = 2, .regression = 0, .warm_up = 2};
  if (objective == "consistency") options.own = ConsistencyOptions{.intervals = 4};
  options.train.steps = kSteps;
  options.train.batch = 3;
  options.train.log_every = 1;
  options.train.checkpoint_every = options.train.validate_every = 3;
  return options;
}

std::vector<std::string> objective_names() {
  std::vector<std::string> names;
  for (const auto& card : objective_cards()) names.push_back(card.name);
  return names;
}

json tiny_ffno() {
  return {{"type", "ffno"}, {"modes", {4, 4}}, {"width", 6},      {"layers", 2},
          {"hidden", 8},    {"lifting", 8},    {"projection", 8}, {"time_features", 8}};
}

/// A student in the making: everything an objective refers to.
struct Workbench {
  Workbench(const DistillOptions& o, const fs::path& folder, Model t = testing::tiny_teacher(1))
      : options(o),
        teacher(std::move(t)),
        model(make_student(teacher, options, kObjectivesSeed)),
        student(model),
        pairs(teacher, kObjectivesSeed, options.pairs, folder) {
    const auto data = normal(kObjectivesSeed, Stream::coefficients, 0, 5, model.pde->sample_shape());
    objective = make_objective({student, model, teacher, pairs, options, kObjectivesSeed, data});
  }
  DistillOptions options;
  Model teacher, model;
  Student student;
  PairSource pairs;
  std::unique_ptr<Objective> objective;
};

struct PowerCut {};

/// Another objective, until the power fails before step `cut`.
class Cut : public Objective {
 public:
  Cut(Objective& inner, int64_t cut) : inner_(inner), cut_(cut) {}
  void prepare(int64_t step) override { inner_.prepare(step); }
  Loss loss(int64_t step) override {
    if (step == cut_) throw PowerCut();
    return inner_.loss(step);
  }
  std::optional<double> validate() override { return inner_.validate(); }
  bool keeps_state() const override { return inner_.keeps_state(); }
  void advance(int64_t step) override { inner_.advance(step); }
  ObjectiveState state() const override { return inner_.state(); }
  void load(const ObjectiveState& state) override { inner_.load(state); }

 private:
  Objective& inner_;
  int64_t cut_;
};

struct Result {
  TensorMap weights;
  std::map<std::string, TensorMap> parts;
  std::vector<json> rows;
};

Result finish(const DistillOptions& options, const fs::path& folder, int64_t cut) {
  Workbench bench(options, folder.string() + "-pairs");
  Cut objective(*bench.objective, cut);
  auto run = fs::exists(folder) ? RunFolder::open(folder) : RunFolder::create(folder, json::object());
  train(*bench.model.network, objective, options.train, run, "run");
  Result result{weights_of(*bench.model.network), run.checkpoints(2).load(kSteps).parts,
                RunFolder::read_metrics(folder)};
  for (auto& row : result.rows) row.erase("seconds");
  return result;
}

void expect_equal(const TensorMap& a, const TensorMap& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (const auto& [name, value] : a) EXPECT_TRUE(torch::equal(value, b.at(name))) << what << " " << name;
}

class EveryObjective : public ::testing::TestWithParam<std::string> {
 protected:
  testing::TempDir folder_;
};

TEST_P(EveryObjective, AddsThePhysicsOfTheFinalSample) {
  auto off = quick(GetParam());
  off.loss.lambda = 0;
  Workbench with(quick(GetParam()), folder_ / "pairs"), without(off, folder_ / "pairs");
  const auto on_loss = with.objective->loss(1), off_loss = without.objective->loss(1);
  ASSERT_EQ(on_loss.terms[1].first, "pde_error");
  const double physics = on_loss.terms[1].second.item<double>(), total = off_loss.total.item<double>();
  EXPECT_GT(physics, 0);
  EXPECT_NEAR(on_loss.total.item<double>(), total + 3 * physics, 1e-5 * (total + 3 * physics));
  const auto gradient = [](const Loss& loss, const Model& model) {
    return torch::autograd::grad({loss.total}, {model.network->parameters().back()})[0];
  };
  EXPECT_GT(testing::relative_error(gradient(on_loss, with.model), gradient(off_loss, without.model)), 1e-3);
}

TEST_P(EveryObjective, EndsInTheSameBitsAfterAPowerCut) {
  auto options = quick(GetParam());
  for (const bool weighted : {false, true}) {
    const auto name = weighted ? "weighted" : "plain";
    if (weighted) {
      options.loss.residual_target = 1e-4, options.loss.gradients = GradientRule::project;
      options.loss.adversary = {.weight = 0.1, .from = 0.3, .width = 4};
    }
    const auto unbroken = finish(options, folder_ / (name + std::string("-unbroken")), -1);
    const auto run = folder_ / (name + std::string("-cut"));
    for (const int64_t cut : {2, 5}) EXPECT_THROW(finish(options, run, cut), PowerCut);
    const auto resumed = finish(options, run, -1);
    expect_equal(resumed.weights, unbroken.weights, name);
    EXPECT_EQ(resumed.rows, unbroken.rows);
    EXPECT_EQ(unbroken.parts.count("objective-adversary-vectors"), weighted ? 1U : 0U);
    ASSERT_EQ(resumed.parts.size(), unbroken.parts.size());
    for (const auto& [part, tensors] : resumed.parts) expect_equal(tensors, unbroken.parts.at(part), part);
  }
}

TEST_P(EveryObjective, TakesAStudentWithANetworkOfItsOwn) {
  auto options = quick(GetParam());
  options.model = tiny_ffno();
  const auto unbroken = finish(options, folder_ / "unbroken", -1);
  EXPECT_EQ(unbroken.weights.count("layers_0_along_x"), 1U);  // the student's
  for (const auto& [part, tensors] : unbroken.parts)  // the critic is a copy of the teacher, the target of the student
    EXPECT_EQ(tensors.count("layers_0_skip"), part.rfind("objective-critic-", 0) == 0 && tensors.size() > 1 ? 1U : 0U)
        << part;
  for (const int64_t cut : {2, 5}) EXPECT_THROW(finish(options, folder_ / "cut", cut), PowerCut);
  const auto resumed = finish(options, folder_ / "cut", -1);
  expect_equal(resumed.weights, unbroken.weights, "weights");
  EXPECT_EQ(resumed.rows, unbroken.rows);
}

TEST_P(EveryObjective, KeepsItsStateInTheCheckpoint) {
  auto options = quick(GetParam());
  options.loss.residual_target = 1e-4;
  options.train.steps = 1;
  if (auto* dmd = std::get_if<DmdOptions>(&options.own)) dmd->warm_up = 0;
  Workbench bench(options, folder_ / "pairs");
  auto run = RunFolder::create(folder_ / "run", json::object());
  train(*bench.model.network, *bench.objective, options.train, run, "run");
  const auto parts = run.checkpoints(2).load(1).parts;
  EXPECT_EQ(parts.count("objective-weighting"), 1U);
  EXPECT_EQ(parts.count("objective-critic-exp_avg_sq"), GetParam().substr(0, 3) == "dmd" ? 1U : 0U);
  EXPECT_EQ(parts.count("objective-target"), GetParam() == "consistency" ? 1U : 0U);
  EXPECT_ERROR(bench.objective->load({}), ExitCode::data, "missing");
}

// Fields between 1 and 2 stand for data: only shapes and finiteness are at stake.
TEST_P(EveryObjective, WorksOnEveryPdeAndProcess) {
  const auto processes = process_registry().names();
  size_t turn = 0;
  for (const auto& name : pde_registry().names()) {
    Model teacher;
    teacher.pde = make_pde({name, testing::kTinyGrid});
    const int64_t channels = teacher.pde->num_channels();
    teacher.process = process_registry().at(processes[turn++ % processes.size()])();
    teacher.normalizer = Normalizer::fit(
        1 + uniform(kObjectivesSeed, Stream::latents, 0, 4, {channels, testing::kTinyGrid, testing::kTinyGrid}),
        teacher.pde->channels());
    json network = testing::tiny_network(1)->options_json();
    network["channels"] = channels;
    teacher.network = make_network("fno", network, 1);
    auto options = quick(GetParam());
    options.heads = {};
    Workbench bench(options, folder_ / name, teacher);
    for (const int64_t step : {0, 1}) {
      const auto loss = bench.objective->loss(step);
      loss.total.backward();
      bench.objective->advance(step);
      EXPECT_TRUE(all_finite(loss.total)) << name;
    }
    for (const auto& p : bench.model.network->named_parameters()) EXPECT_TRUE(all_finite(p.value().grad())) << name;
  }
}

TEST(MakeStudent, CopiesTheTeacher) {
  const auto teacher = testing::tiny_teacher();
  const auto student = make_student(teacher, quick(), kObjectivesSeed);
  EXPECT_EQ(student.kind, ModelKind::student);
  EXPECT_TRUE(student.heads.smooth);
  EXPECT_NE(student.network, teacher.network);
  expect_equal(weights_of(*student.network), weights_of(*teacher.network), "copy");
}

TEST(MakeStudent, GivesANetworkOfItsOwnFreshWeights) {
  auto teacher = testing::tiny_teacher();
  teacher.process = process_registry().at("vp")();
  auto options = quick();
  options.heads = {};
  options.model = tiny_ffno();
  const auto student = make_student(teacher, options, kObjectivesSeed);
  EXPECT_EQ(student.network->type(), "ffno");
  expect_equal(weights_of(*make_student(teacher, options, kObjectivesSeed).network), weights_of(*student.network),
               "same seed");
  EXPECT_FALSE(
      torch::equal(make_student(teacher, options, 1).network->parameters()[0], student.network->parameters()[0]));
  const torch::NoGradGuard no_grad;
  const auto e = student.latents(3, Stream::latents, 0, 2);
  EXPECT_TRUE(torch::equal(Student(student)(e), e - (*student.network)(e, torch::ones({1}))));

  options.choose("consistency");
  EXPECT_EQ(make_student(teacher, options, kObjectivesSeed).process->name(), "vp");
}

TEST(MakeStudent, SaysWhatDoesNotGoTogether) {
  const auto teacher = testing::tiny_teacher();
  auto options = quick();
  const auto with = [&](const json& model) {
    options.model = model;
    return make_student(teacher, options, kObjectivesSeed);
  };
  EXPECT_ERROR(with({{"type", "mlp"}, {"points", 256}}), ExitCode::usage, "heads.band_limited");
  options.heads = {};
  EXPECT_NO_THROW(with({{"type", "mlp"}, {"points", 256}}));
  EXPECT_ERROR(with({{"type", "mlp"}}), ExitCode::data, "model.points");
  EXPECT_ERROR(with({{"type", "ufno"}}), ExitCode::usage, "distill.model: unknown model 'ufno'");
  EXPECT_ERROR(with({{"type", "ffno"}, {"witdh", 3}}), ExitCode::usage, "distill.model: ");
  EXPECT_ERROR(check_distillation(options, *teacher.pde), ExitCode::usage, "'width'");
  EXPECT_ERROR(with("ffno"), ExitCode::usage, "expected a table");
}

TEST(Objectives, AWarmUpEndsBeforeTheTraining) {
  const auto pde = make_pde({"darcy", testing::kTinyGrid});
  auto options = quick("dmd2");
  EXPECT_NO_THROW(check_distillation(options, *pde));
  std::get<DmdOptions>(options.own).warm_up = kSteps;
  EXPECT_ERROR(check_distillation(options, *pde), ExitCode::usage,
               "distill.dmd2.warm_up: 7 steps on pairs alone leave none of distill.train.steps = 7");
}

TEST(Objectives, AreKnownByName) {
  EXPECT_ERROR(objective_card("consistancy"), ExitCode::usage, "'consistency'");
  EXPECT_EQ(objective_card("regression").rounds, 0);
  EXPECT_EQ(objective_card("reflow").rounds, 1);
  EXPECT_EQ(objective_card("reflow2").rounds, 2);
}

TEST(Objectives, HaveCardsThatFitTogether) {
  for (const auto& card : objective_cards()) {
    auto options = quick(card.name);
    EXPECT_EQ(card.section.empty(), std::holds_alternative<NoOptions>(card.usual)) << card.name;
    EXPECT_EQ(card.rounds > 0, std::holds_alternative<ReflowOptions>(card.usual)) << card.name;
    EXPECT_EQ(write_fields(options).contains(card.section), !card.section.empty()) << card.name;
    EXPECT_GE(card.step_cost(options).gradient, 1) << card.name;
    EXPECT_LE(card.steps_with_pairs(options), kSteps) << card.name;
    options.own = std::holds_alternative<NoOptions>(card.usual) ? ObjectiveOptions(DmdOptions{}) : NoOptions{};
    EXPECT_ERROR(check_distillation(options, *make_pde({"darcy", testing::kTinyGrid})), ExitCode::usage,
                 "another objective");
  }
  EXPECT_EQ(objective_card("dmd").steps_with_pairs(quick("dmd")), kSteps);
  EXPECT_EQ(objective_card("dmd2").steps_with_pairs(quick("dmd2")), 2);  // its warm-up
}

// What the networks of student and teacher do in a step; the critic is out of sight.
TEST_P(EveryObjective, CostsWhatItsCardSays) {
  auto options = quick(GetParam());
  options.loss.fresh = 1;
  if (auto* dmd = std::get_if<DmdOptions>(&options.own)) dmd->warm_up = 0;
  Workbench bench(options, folder_ / "pairs");
  bench.objective->loss(0);  // makes the pairs
  const WorkMeter student(*bench.model.network), teacher(*bench.teacher.network);
  bench.objective->loss(1).total.backward();
  bench.objective->advance(1);
  const auto batch = static_cast<double>(options.train.batch);
  const auto cost = objective_card(GetParam()).step_cost(options);
  const auto* dmd = std::get_if<DmdOptions>(&options.own);
  const double critic_steps = dmd ? static_cast<double>(dmd->critic_steps) : 0;
  const double unseen = dmd ? 1 : GetParam() == "consistency" ? 2 : 0;  // critic, target
  EXPECT_EQ(static_cast<double>(student.spent().backward) / batch, cost.gradient - critic_steps);
  EXPECT_EQ(static_cast<double>(student.spent().forward + teacher.spent().forward) / batch,
            cost.forward + cost.gradient - unseen - critic_steps);
}

TEST(DistillOptions, KeepOnlyTheSectionOfTheirObjective) {
  const auto read = [](const json& table, FormerKeys policy = FormerKeys::refuse) {
    DistillOptions options;
    read_fields(table, options, "distill", policy);
    return options;
  };
  const json sections = {{"dmd", {{"regression", 3}}}, {"dmd2", {{"critic_steps", 4}}}, {"reflow", {{"steps", 9}}}};
  EXPECT_EQ(write_fields(read(sections)), write_fields(DistillOptions{}));
  auto dmd = sections;
  dmd["objective"] = "dmd2";
  EXPECT_EQ(std::get<DmdOptions>(read(dmd).own).critic_steps, 4);
  EXPECT_EQ(std::get<DmdOptions>(read(dmd).own).warm_up, 500);
  EXPECT_FALSE(write_fields(read(dmd)).contains("reflow"));
  EXPECT_EQ(write_fields(read(write_fields(read(dmd)))), write_fields(read(dmd)));
  for (const char* name : {"reflow", "reflow2"}) {
    dmd["objective"] = name;
    EXPECT_EQ(std::get<ReflowOptions>(read(dmd).own).steps, 9);
  }
  EXPECT_ERROR(read({{"dmd", {{"regresion", 3}}}}), ExitCode::usage, "did you mean 'regression'");
  EXPECT_ERROR(read({{"dmd3", json::object()}}), ExitCode::usage, "dmd3");
  EXPECT_ERROR(read({{"dmd", {{"critic_steps", 0}}}}), ExitCode::usage, "distill.dmd.critic_steps: must be at least 1");
  EXPECT_ERROR(read({{"objective", 3}}), ExitCode::usage, "distill.objective: expected a string");
}

TEST(DistillOptions, NameWhatFormerKeysAreToday) {
  const json former = {{"objective", "reflow"},
                       {"reflow", {{"ends", 4}, {"train", {{"steps", 9}, {"adam", {{"lr", 0.5}, {"eps", 1e-8}}}}}}}};
  DistillOptions options;
  EXPECT_ERROR(read_fields(former, options, "distill"), ExitCode::usage, "distill.reflow.ends is gone");
  EXPECT_ERROR(read_fields({{"reflow", {{"train", {{"steps", 9}}}}}}, options, "distill"), ExitCode::usage,
               "distill.reflow.train.steps is now distill.reflow.steps");
  EXPECT_ERROR(read_fields({{"dmd2", {{"critic", {{"lr", 0.1}}}}}}, options, "distill"), ExitCode::usage,
               "distill.dmd2.critic.lr is now distill.dmd2.critic_lr");
  EXPECT_ERROR(read_fields({{"pairs", {{"euler_steps", 9}}}}, options, "distill"), ExitCode::usage,
               "distill.pairs.euler_steps is now distill.pairs.steps");
  read_fields(former, options, "distill", FormerKeys::accept);
  EXPECT_EQ(std::get<ReflowOptions>(options.own).steps, 9);
  EXPECT_EQ(std::get<ReflowOptions>(options.own).lr, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Distill, EveryObjective, ::testing::ValuesIn(objective_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace piddm
