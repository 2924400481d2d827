#include "piddm/pde/pde_file.h"

#include <unistd.h>

#include "piddm/core/toml_text.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::TempDir;
using testing::write_text;

constexpr const char* kDecay = R"toml(
name = "decay"
equation = "-lap(u) + k*u = f"
grid = { x = [0, 1, 16, "nodes"], y = [0, 2, 24, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
parameters = { k = 4.0 }
coefficients = { f = "field: gauss(alpha=2, tau=3) -> 10*g" }
)toml";

json decay_table() { return parse_toml(kDecay, "decay"); }

PdeOptions decay(const std::string& key = "", const json& value = {}) {
  auto table = decay_table();
  if (!key.empty()) table[json::json_pointer(key)] = value;
  return {.name = "decay", .grid = {16, 24}, .definition = {.table = table}};
}

class PdeFile : public ::testing::Test {
 protected:
  PdeFile() { write_text(folder_ / "decay.toml", kDecay); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  TempDir folder_;
};

TEST_F(PdeFile, StandsWhereANameDoes) {
  EXPECT_TRUE(names_file("a/decay.toml"));
  EXPECT_FALSE(names_file("decay"));
  EXPECT_EQ(write_fields(pde_named("burgers")),
            (json{{"name", "burgers"}, {"grid", 128}, {"parameters", json::object()}}));
  const auto options = pde_named(at("decay.toml"));
  EXPECT_EQ(options.name, "decay");
  EXPECT_EQ(options.grid, GridSize(16, 24));
  EXPECT_EQ(options.definition.table, decay_table());
  std::filesystem::remove(folder_ / "decay.toml");
  EXPECT_EQ(make_pde(options)->channel_names(), (std::vector<std::string>{"u", "f"}));
}

TEST_F(PdeFile, WrongNamesSayTheNearest) {
  EXPECT_ERROR(pde_named("burgesr"), ExitCode::usage, "did you mean 'burgers'");
  EXPECT_ERROR(pde_named(at("decya.toml")), ExitCode::data, "decya.toml");
  write_text(folder_ / "decay.txt", kDecay);
  EXPECT_ERROR(pde_named(at("decay.txt")), ExitCode::usage, "the name of a PDE's file ends in .toml");
  write_text(folder_ / "config.toml", "train = { steps = 3 }\n");
  EXPECT_ERROR(pde_named(at("config.toml")), ExitCode::usage, "`piddm pde new NAME`");
  write_text(folder_ / "huge.toml", std::string(kDecay) + "# " + std::string(kMaxPdeFileBytes, 'x') + "\n");
  EXPECT_ERROR(pde_named(at("huge.toml")), ExitCode::data, "huge.toml");
}

TEST_F(PdeFile, TheNearestNameMayBeAFileOfThisFolder) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  EXPECT_ERROR(pde_named("decay"), ExitCode::usage, "decay.toml");
  std::filesystem::current_path(here);
}

TEST_F(PdeFile, IsFilledIntoAConfigsSection) {
  const auto by_file = resolved_pde({{"file", at("decay.toml")}});
  EXPECT_EQ(by_file.at("name"), "decay");
  EXPECT_EQ(by_file.at("grid"), json({16, 24}));
  EXPECT_EQ(by_file.at("definition"), decay_table());
  EXPECT_EQ(resolved_pde({{"name", at("decay.toml")}}), by_file);
  EXPECT_EQ(resolved_pde({{"definition", decay_table()}}), by_file);
  EXPECT_EQ(resolved_pde(by_file), by_file);
  const auto changed = resolved_pde({{"file", at("decay.toml")}, {"grid", 32}, {"parameters", {{"k", 2.0}}}});
  EXPECT_EQ(changed.at("grid"), 32);
  EXPECT_EQ(changed.at("parameters").at("k"), 2.0);
  const json built_in = {{"name", "darcy"}, {"grid", 32}};
  EXPECT_EQ(resolved_pde(built_in), built_in);
  EXPECT_ERROR(resolved_pde({{"file", at("decay.toml")}, {"name", "growth"}}), ExitCode::usage, "leave the name out");
  EXPECT_ERROR(resolved_pde({{"file", 3}}), ExitCode::usage, "pde.file: expected the name of a PDE's file");
}

TEST_F(PdeFile, IsLookedForBesideAConfig) {
  for (const char* key : {"file", "name"}) {
    json section = {{key, "pdes/decay.toml"}};
    find_pde_beside(section, "/a/b/config.toml");
    EXPECT_EQ(section.at(key), "/a/b/pdes/decay.toml");
    section[key] = "/c/decay.toml";
    find_pde_beside(section, "/a/b/config.toml");
    EXPECT_EQ(section.at(key), "/c/decay.toml");
  }
  json built_in = {{"name", "darcy"}};
  find_pde_beside(built_in, "/a/b/config.toml");
  EXPECT_EQ(built_in.at("name"), "darcy");
}

TEST(PdeDifference, NamesTheFirstThatMatters) {
  const auto ours = decay();
  const auto differs = [&](const std::string& key, const json& value) {
    return pde_difference(ours, decay(key, value));
  };
  EXPECT_EQ(differs("/equation", "-lap(u) - k*u = f"), "equation is \"-lap(u) - k*u = f\", not \"-lap(u) + k*u = f\"");
  EXPECT_EQ(differs("/boundary/x", "u = 1"), "boundary.x is \"u = 1\", not \"u = 0\"");
  EXPECT_EQ(differs("/grid/x/1", 3), "grid.x is [0,3,\"nodes\"], not [0,1,\"nodes\"]");
  EXPECT_EQ(differs("/grid/x/3", "cells"), "grid.x is [0,1,\"cells\"], not [0,1,\"nodes\"]");
  EXPECT_EQ(differs("/valid", {{"f", {-1, 1}}}), "it has valid = {\"f\":[-1,1]}");
  EXPECT_EQ(pde_difference(decay("/derivatives", "spectral"), ours), "it has no derivatives = \"spectral\"");
}

TEST(PdeDifference, PointsTitlesUnitsSpacesAndValuesAreNone) {
  const auto ours = decay();
  EXPECT_EQ(pde_difference(ours, ours), "");
  EXPECT_EQ(pde_difference(ours, decay("/equation", "-lap(u)+k*u  =  f")), "");
  EXPECT_EQ(pde_difference(ours, decay("/grid/x/2", 40)), "");
  EXPECT_EQ(pde_difference(ours, decay("/grid/x/1", 1.0)), "");
  EXPECT_EQ(pde_difference(ours, decay("/parameters/k", 7)), "");
  EXPECT_EQ(pde_difference(ours, decay("/title", "Decay")), "");
  EXPECT_EQ(pde_difference(ours, decay("/units", {{"u", "m"}})), "");
}

// Of x, y and t the stored times are channels: their number is no matter of resolution.
TEST(PdeDifference, ANumberOfStoredTimesIsOne) {
  auto ours = decay("/grid/t", {0, 1, 5}), theirs = decay("/grid/t", {0, 1, 4});
  EXPECT_EQ(pde_difference(ours, theirs), "grid.t is [0,1,4], not [0,1,5]");
  for (auto* options : {&ours, &theirs}) options->definition.table["grid"].erase("y");
  EXPECT_EQ(pde_difference(ours, theirs), "");
}

TEST(PdeDifference, ABuiltInPdeIsNotATextOfItsName) {
  const PdeOptions built_in = {.name = "darcy"};
  auto text = decay();
  EXPECT_EQ(pde_difference(built_in, text), "it is decay, not darcy");
  text.name = "darcy";
  EXPECT_EQ(pde_difference(built_in, text), "it is defined by a text, not built in");
  EXPECT_EQ(pde_difference(text, built_in), "it is built in, not defined by a text");
  EXPECT_EQ(pde_difference(built_in, built_in), "");
}

}  // namespace
}  // namespace piddm
