// Every cause is found in data that were damaged in that way, and none where there is none.

#include "piddm/data/check/diagnosis.h"

#include <cmath>
#include <numbers>

#include "piddm/data/resample.h"
#include "piddm/pde/darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSamples = 4;

PdePtr pde_at(const std::string& name, const GridSize& grid = 32, const json& parameters = json::object()) {
  return make_pde({.name = name, .grid = grid, .parameters = parameters});
}

/// As a file holds them.
Tensor stored(const Tensor& x) { return x.to(torch::kFloat32); }

Tensor true_data(const Pde& pde, uint64_t seed = 0) { return stored(pde.sample(seed, 0, kSamples)); }

std::string described(const std::vector<Explanation>& found) {
  std::string text;
  for (const auto& explanation : found)
    for (const auto& cause : explanation) text += cause.sentence() + "\n";
  return text;
}

/// The first explanation, of one cause.
Cause only_cause(const Pde& pde, const Tensor& x) {
  const auto found = diagnose(pde, x, "d.npz");
  EXPECT_FALSE(found.empty()) << pde.name();
  if (found.empty()) return {};
  EXPECT_EQ(found.front().size(), 1u) << described(found);
  const auto& evidence = found.front().front().evidence;
  const auto& residual = evidence.at("rel_residual");
  EXPECT_LT(residual[1].get<double>(),
            std::max(residual[0].get<double>() * 1.001, 2 * evidence.at("floor").get<double>()))
      << described(found);
  return found.front().front();
}

std::string words(const Pde& pde, const Tensor& x) {
  const auto cause = only_cause(pde, x);
  return cause.what + ". " + cause.advice;
}

const std::vector<std::string> kPdes = {"darcy", "poisson", "burgers", "heat"};

TEST(Diagnosis, NothingIsWrongWithTrueData) {
  for (const auto& name : pde_registry().names()) {
    const auto pde = pde_at(name, name == "navier-stokes" ? 16 : 32);
    const auto found = diagnose(*pde, true_data(*pde), "");
    EXPECT_TRUE(found.empty()) << name << "\n" << described(found);
  }
}

TEST(Diagnosis, NoiseHasNoCause) {
  const std::vector<std::pair<std::string, double>> cases = {{"darcy", 1e-3},   {"darcy", 0.1},   {"darcy", 100},
                                                             {"poisson", 1e-3}, {"poisson", 10},  {"heat", 1e-3},
                                                             {"heat", 1},       {"burgers", 0.01}};
  for (const auto& [name, share] : cases) {
    const auto pde = pde_at(name);
    auto x = pde->sample(0, 0, kSamples);
    auto u = pde->solution(x);
    const auto noise = normal(0, Stream::noise, 0, kSamples, {1, 32, 32}, torch::kFloat64);
    u.add_(noise * u.square().mean().sqrt() * share);
    const auto found = diagnose(*pde, stored(x), "");
    EXPECT_TRUE(found.empty()) << name << " " << share << "\n" << described(found);
  }
}

TEST(Diagnosis, PureNoiseHasNoCause) {
  for (const std::string name : {"darcy", "poisson", "heat"}) {
    const auto pde = pde_at(name);
    const auto x = normal(1, Stream::noise, 0, kSamples, {pde->num_channels(), 32, 32}, torch::kFloat64);
    const auto found = diagnose(*pde, stored(x), "");
    EXPECT_TRUE(found.empty()) << name << "\n" << described(found);
  }
}

TEST(Diagnosis, AFactorOnTheSolution) {
  for (const auto& name : kPdes)
    for (const double factor : {100.0, 1.05, 0.01}) {
      const auto pde = pde_at(name);
      auto x = true_data(*pde);
      pde->solution(x).mul_(factor);
      const auto cause = only_cause(*pde, x);
      EXPECT_EQ(cause.evidence.value("channel", ""), "u") << name << " " << cause.sentence();
      EXPECT_NEAR(cause.evidence.value("factor", 0.0) * factor, 1, 1e-3) << name;
      EXPECT_THAT(cause.advice, HasSubstr("--scale u="));
    }
}

TEST(Diagnosis, ASign) {
  for (const auto& name : kPdes) {
    const auto pde = pde_at(name);
    auto x = true_data(*pde);
    pde->solution(x).neg_();
    EXPECT_THAT(words(*pde, x), HasSubstr("the sign of u is wrong")) << name;
  }
}

TEST(Diagnosis, AFactorOnACoefficient) {
  const auto darcy = pde_at("darcy"), poisson = pde_at("poisson");
  auto x = true_data(*darcy);
  darcy->coefficients(x).mul_(0.1);
  auto cause = only_cause(*darcy, x);
  EXPECT_EQ(cause.evidence.value("channel", ""), "a") << cause.sentence();
  EXPECT_NEAR(cause.evidence.value("factor", 0.0), 10, 1e-2);
  x = true_data(*poisson);
  poisson->coefficients(x).mul_(5);
  cause = only_cause(*poisson, x);
  EXPECT_EQ(cause.evidence.value("channel", ""), "a") << cause.sentence();
  EXPECT_NEAR(cause.evidence.value("factor", 0.0), 0.2, 1e-3);
}

TEST(Diagnosis, AConstantAdded) {
  for (const std::string name : {"darcy", "poisson", "burgers"}) {
    const auto pde = pde_at(name);
    auto x = true_data(*pde);
    const double shift = pde->solution(x).abs().max().item<double>();
    pde->solution(x).add_(shift);
    const auto cause = only_cause(*pde, x);
    EXPECT_NEAR(cause.evidence.value("offset", 0.0) / shift, -1, 1e-2) << name << " " << cause.sentence();
  }
}

TEST(Diagnosis, AWrongConstantAndWrongLengths) {
  const std::vector<std::tuple<std::string, std::string, double>> wrong = {
      {"burgers", "nu", 0.03},    {"heat", "alpha", 2.0},   {"helmholtz", "k", 4.0},     {"stokes", "k", 6.0},
      {"burgers", "duration", 2}, {"darcy", "length_x", 2}, {"poisson", "length_y", 0.8}};
  for (const auto& [name, parameter, value] : wrong) {
    const auto other = pde_at(name, 32, {{parameter, value}}), declared = pde_at(name);
    const auto cause = only_cause(*declared, true_data(*other));
    EXPECT_EQ(cause.evidence.value("parameter", ""), parameter) << name << " " << cause.sentence();
    EXPECT_NEAR(cause.evidence.value("fitted", 0.0) / value, 1, 0.05) << name << " " << parameter;
  }
}

TEST(Diagnosis, ATimeStepWithoutTheLastPoint) {
  const auto declared = pde_at("burgers"), other = pde_at("burgers", 32, {{"duration", 31.0 / 32}});
  EXPECT_THAT(words(*declared, true_data(*other)), HasSubstr("as if the last point were left out"));
}

TEST(Diagnosis, TransposedAxes) {
  for (const std::string name : {"burgers", "heat", "stokes"}) {
    const auto pde = pde_at(name);
    EXPECT_THAT(words(*pde, true_data(*pde).transpose(2, 3).contiguous()), HasSubstr("all fields are transposed"));
    auto x = true_data(*pde);
    pde->solution(x).copy_(pde->solution(x).transpose(2, 3).clone());
    EXPECT_THAT(words(*pde, x), HasSubstr("transposed")) << name;
  }
  for (const std::string name : {"darcy", "poisson"}) {
    const auto pde = pde_at(name);
    auto x = true_data(*pde);
    pde->solution(x).copy_(pde->solution(x).transpose(2, 3).clone());
    EXPECT_THAT(words(*pde, x), HasSubstr("the axes of u alone are transposed")) << name;
    EXPECT_THAT(words(*pde, x), HasSubstr("--transpose=u ")) << name;
  }
}

TEST(Diagnosis, TransposedAxesOfARectangle) {
  const auto pde = pde_at("burgers", {24, 40}), read = pde_at("burgers", {40, 24});
  EXPECT_THAT(words(*read, true_data(*pde).transpose(2, 3).contiguous()), HasSubstr("all fields are transposed"));
}

TEST(Diagnosis, ReversedAxes) {
  for (const std::string name : {"darcy", "poisson"}) {
    const auto pde = pde_at(name);
    auto x = true_data(*pde);
    pde->solution(x).copy_(pde->solution(x).flip({3}).clone());
    EXPECT_THAT(words(*pde, x), HasSubstr("u run backwards along y")) << name;
  }
  const auto burgers = pde_at("burgers"), heat = pde_at("heat");
  EXPECT_THAT(words(*burgers, true_data(*burgers).flip({2})), HasSubstr("all fields run backwards along x"));
  EXPECT_THAT(words(*heat, true_data(*heat).flip({3})), HasSubstr("run backwards along t"));
}

TEST(Diagnosis, NodesWhereThereAreCells) {
  // u of cells so fine that the mean of the two beside a node is the node's value.
  const int64_t n = 33, fine = 4 * (n - 1);
  const auto x = pde_at("darcy", fine)->sample(0, 0, kSamples);
  const auto at_nodes = [&](const Tensor& f, int64_t dim) {
    const auto wall = torch::zeros_like(f.narrow(dim, 0, 1));
    const auto pairs = (f.narrow(dim, 0, fine - 1) + f.narrow(dim, 1, fine - 1)) / 2;
    return torch::cat({wall, pairs.slice(dim, 3, fine, 4), wall}, dim);
  };
  const auto u = at_nodes(at_nodes(x.narrow(1, 0, 1), 2), 3);
  const auto index = (torch::arange(n) * 4).clamp(0, fine - 1);
  const auto a = x.narrow(1, 1, 1).index_select(2, index).index_select(3, index);
  const auto cause = only_cause(*pde_at("darcy", n), stored(torch::cat({u, a}, 1)));
  EXPECT_THAT(cause.what, HasSubstr("nodes, from wall to wall, where darcy has the centres of cells"));
  EXPECT_THAT(cause.what, HasSubstr("u is 0 of its RMS on the outer ring"));
  EXPECT_THAT(cause.advice, HasSubstr("--from nodes"));
}

TEST(Diagnosis, CellsWhereThereAreNodes) {
  const int64_t n = 32;
  for (const std::string name : {"poisson", "helmholtz"}) {
    const auto fine = pde_at(name, 4 * n + 1)->sample(0, 0, kSamples);  // nodes at i/128, every centre among them
    const auto x = fine.slice(2, 2, 4 * n, 4).slice(3, 2, 4 * n, 4);
    const auto cause = only_cause(*pde_at(name, n), stored(x));
    EXPECT_THAT(cause.what, HasSubstr("centres of cells where " + name + " has nodes")) << cause.sentence();
    EXPECT_GT(cause.evidence.value("ring_over_rms", 0.0), 1e-3);
  }
}

TEST(Diagnosis, AnEndPointStoredTwice) {
  for (const std::string name : {"burgers", "heat"}) {
    const auto x = true_data(*pde_at(name, {32, 24}));
    const auto cause = only_cause(*pde_at(name, {33, 24}), torch::cat({x, x.narrow(2, 0, 1)}, 2));
    EXPECT_THAT(cause.what, HasSubstr("periodic and store the first point again")) << cause.sentence();
    EXPECT_EQ(cause.evidence.value("last_minus_first_x", 1.0), 0);
  }
}

TEST(Diagnosis, DataThatAreNotPeriodic) {
  // A piece of a longer ring.
  const auto x = true_data(*pde_at("burgers", {64, 32}, {{"length_x", 2.0}})).narrow(2, 5, 32);
  const auto cause = only_cause(*pde_at("burgers"), x);
  EXPECT_THAT(cause.what, HasSubstr("not periodic in x")) << cause.sentence();
  EXPECT_GT(cause.evidence.value("last_minus_first_x", 0.0), 2);
}

TEST(Diagnosis, OtherValuesAtTheWalls) {
  const auto pde = pde_at("poisson");
  auto x = pde->sample(0, 0, kSamples);
  pde->solution(x).add_(torch::arange(32, torch::kFloat64) * 1e-4);  // harmonic
  EXPECT_THAT(words(*pde, stored(x)), HasSubstr("inside the domain the equation holds"));
}

TEST(Diagnosis, HarmonicMeansOnTheFaces) {
  const auto pde = pde_at("darcy");
  auto x = pde->sample(0, 0, kSamples);
  const auto a = pde->coefficients(x);
  const auto inverse = DarcyOperator(a, {1, 1}, FaceMean::harmonic).solve(torch::ones_like(a));
  pde->solution(x).copy_(inverse.x);
  const auto cause = only_cause(*pde, stored(x));
  EXPECT_THAT(cause.what, HasSubstr("harmonic means"));
  EXPECT_LT(cause.evidence.at("rel_residual")[1].get<double>(), 1e-2);
}

TEST(Diagnosis, TwoCausesAtOnce) {
  const auto burgers = pde_at("burgers"), other = pde_at("burgers", 32, {{"nu", 0.05}});
  auto found = diagnose(*burgers, true_data(*other).transpose(2, 3).contiguous(), "");
  ASSERT_FALSE(found.empty());
  ASSERT_EQ(found.front().size(), 2u) << described(found);
  EXPECT_THAT(described({found.front()}), HasSubstr("transposed"));
  EXPECT_NEAR(found.front()[1].evidence.value("fitted", 0.0), 0.05, 5e-3) << described(found);
  const auto darcy = pde_at("darcy");
  auto x = true_data(*darcy);
  darcy->solution(x).mul_(115).sub_(0.9);  // in the units of a network
  found = diagnose(*darcy, x, "");
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(described({found.front()}), HasSubstr("u has a factor"));
  EXPECT_THAT(described({found.front()}), HasSubstr("u is shifted"));
  EXPECT_THAT(found.front()[0].advice, ::testing::ContainsRegex("--scale u=0.0086[0-9]* --shift u=0.0078[0-9]* --out"));
  EXPECT_EQ(found.front()[0].advice, found.front()[1].advice);
}

TEST(Diagnosis, OneBadSampleHasNoCause) {
  const auto pde = pde_at("poisson");
  auto x = true_data(*pde);
  x[3][0].add_(x[3][0].abs().max() * 0.01 * torch::rand({32, 32}));
  EXPECT_TRUE(diagnose(*pde, x, "").empty());
}

}  // namespace
}  // namespace piddm
