// Which method `solve --method auto` takes, rule by rule.

#include "piddm/solve/choice.h"

#include "piddm/solve/methods/registry.h"
#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr auto kTeacher = ModelKind::teacher, kStudent = ModelKind::student, kPosterior = ModelKind::posterior;
constexpr int64_t kU = 0, kA = 1;

Model model_of(const std::string& pde, ModelKind kind) {
  auto model = testing::small_model(make_pde({pde, 16}));
  model.kind = kind;
  return model;
}

/// What is known of two true samples: channels everywhere, and channels at every fifth entry.
struct Known {
  std::vector<int64_t> whole = {}, sparse = {};
  double sigma = 0;
  bool functionals = false;
};

Observation observation_of(const Model& model, const Known& known) {
  const auto x = model.pde->sample(5, 0, 2);
  Observation out{x, torch::zeros_like(x)};
  for (const auto c : known.whole) out.mask.select(1, c).fill_(1);
  for (const auto c : known.sparse) out.mask.select(1, c).slice(1, 0, {}, 5).fill_(1);
  if (known.sigma > 0) out.sigma = torch::full_like(x, known.sigma);
  if (known.functionals) out.functionals.value = torch::zeros({1});
  return out;
}

ChosenMethod chosen(const Model& model, Task task, const Known& known, bool ensemble = false,
                    const json& options = json::object()) {
  return choose_method(problem_of(model, task, observation_of(model, known), ensemble), options);
}

std::string name(const Model& model, Task task, const Known& known, bool ensemble = false) {
  return chosen(model, task, known, ensemble).name;
}

TEST(Choice, TakesTheSolverWhereEveryCoefficientIsKnownExactly) {
  for (const auto kind : {kTeacher, kStudent, kPosterior})
    for (const char* pde : {"darcy", "burgers", "poisson"}) {
      const auto model = model_of(pde, kind);
      EXPECT_EQ(name(model, Task::forward, {.whole = {kA}}), "classical") << pde;
      EXPECT_EQ(name(model, Task::forward, {.whole = {kA}}, true), "classical") << pde;  // all draws are the same
    }
  const auto student = model_of("darcy", kStudent);
  EXPECT_THAT(chosen(student, Task::forward, {.whole = {kA}}).reason, ::testing::HasSubstr("solver"));
  EXPECT_EQ(name(student, Task::reconstruct, {.whole = {kA}, .sparse = {kU}}), "classical");
  EXPECT_EQ(name(student, Task::forward, {.whole = {kA}, .sigma = 0.1}), "piddm");
  EXPECT_EQ(name(student, Task::forward, {.sparse = {kA}}), "piddm");
}

TEST(Choice, ConditionsGaussiansExactly) {
  for (const char* pde : {"poisson", "helmholtz"})
    for (const auto kind : {kTeacher, kStudent, kPosterior}) {
      const auto model = model_of(pde, kind);
      for (const bool ensemble : {false, true}) {
        EXPECT_EQ(name(model, Task::inverse, {.sparse = {kU}, .sigma = 1e-3}, ensemble), "classical");
        EXPECT_EQ(name(model, Task::reconstruct, {.sparse = {kU, kA}, .functionals = true}, ensemble), "classical");
      }
      const auto why = chosen(model, Task::inverse, {.whole = {kU}}).reason;
      EXPECT_EQ(why, std::string(pde) + " is linear and its law Gaussian: exact conditioning");
    }
}

TEST(Choice, DoesNotConditionOnALawThatTheDataDoNotHave) {
  auto model = model_of("poisson", kStudent);
  auto statistics = model.normalizer.to_json();
  for (auto& channel : statistics) channel["std"] = 3 * channel.at("std").get<double>();
  model.normalizer = Normalizer::from_json(statistics);
  EXPECT_EQ(name(model, Task::inverse, {.sparse = {kU}}), "piddm");
  EXPECT_EQ(name(model, Task::forward, {.whole = {kA}}), "classical");  // the equation is still the equation
}

TEST(Choice, InvertsAKnownSolutionDirectlyWhereTheEquationFixesTheCoefficients) {
  for (const char* pde : {"darcy", "burgers", "heat", "stefan"}) {
    const auto model = model_of(pde, kPosterior);
    EXPECT_EQ(name(model, Task::inverse, {.whole = {kU}}), "direct") << pde;
    EXPECT_EQ(name(model, Task::inverse, {.whole = {kU}}, true), "amortised") << pde;  // it has one answer
    EXPECT_EQ(name(model, Task::inverse, {.whole = {kU}, .sigma = 1e-3}), "amortised") << pde;
    EXPECT_EQ(name(model, Task::inverse, {.sparse = {kU}}), "amortised") << pde;
  }
  for (const char* pde : {"stokes", "pme", "navier-stokes"})
    EXPECT_EQ(name(model_of(pde, kStudent), Task::inverse, {.whole = {kU}}), "piddm") << pde;
}

TEST(Choice, OtherwiseTakesWhatTheModelIsFor) {
  const Known sensors{.sparse = {kU}, .sigma = 1e-3};
  for (const bool ensemble : {false, true}) {
    EXPECT_EQ(name(model_of("darcy", kPosterior), Task::inverse, sensors, ensemble), "amortised");
    EXPECT_EQ(name(model_of("darcy", kStudent), Task::inverse, sensors, ensemble), "piddm");
    EXPECT_EQ(name(model_of("darcy", kTeacher), Task::inverse, sensors, ensemble), "diffusionpde");
  }
  EXPECT_THAT(chosen(model_of("darcy", kPosterior), Task::inverse, sensors).reason, ::testing::HasSubstr("posterior"));
  const auto between = chosen(model_of("darcy", kPosterior), Task::inverse, {.sparse = {kU}, .functionals = true});
  EXPECT_EQ(between.name, "amortised");  // whose refusal says what to do
  EXPECT_THAT(between.reason, ::testing::HasSubstr("no other"));
}

TEST(Choice, KeepsToMethodsThatTakeTheOptionsGiven) {
  const auto student = model_of("poisson", kStudent);
  const auto searched = chosen(student, Task::inverse, {.sparse = {kU}}, false, {{"task", {{"iterations", 20}}}});
  EXPECT_EQ(searched.name, "piddm");
  EXPECT_THAT(searched.reason, ::testing::HasSubstr("`classical`, poisson is linear and its law Gaussian"));
  EXPECT_EQ(chosen(student, Task::inverse, {.sparse = {kU}}, false, {{"estimate", "draw"}}).name, "classical");
  EXPECT_EQ(chosen(student, Task::inverse, {.sparse = {kU}}, false, {{"itartions", 2}}).name, "piddm");
}

TEST(Choice, EveryCardThatPromisesSomethingSaysWhyInOneLine) {
  for (const char* pde : {"darcy", "poisson", "navier-stokes"})
    for (const auto kind : {kTeacher, kStudent, kPosterior}) {
      const auto model = model_of(pde, kind);
      const auto problem = problem_of(model, Task::inverse, observation_of(model, {.sparse = {kU}}));
      for (const auto& card : method_cards()) {
        const auto suits = card.suits(problem);
        if (!suits) continue;
        EXPECT_FALSE(suits->reason.empty()) << card.name;
        EXPECT_EQ(suits->reason.find('\n'), std::string::npos) << card.name;
      }
    }
}

}  // namespace
}  // namespace piddm
