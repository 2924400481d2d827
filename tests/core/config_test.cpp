#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"

#include <sys/stat.h>

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

using testing::TempDir;

json parsed(const std::string& text) { return parse_toml(text, "test.toml"); }

json with(const std::string& setting, json config = json::object()) {
  apply_setting(config, setting);
  return config;
}

/// Regardless of the order of keys, which TOML does not keep.
void expect_same(const json& a, const json& b) { EXPECT_EQ(nlohmann::json(a), nlohmann::json(b)); }

TEST(Toml, EveryTypeBecomesItsJsonType) {
  const auto j =
      parsed("b = true\ni = -3\nx = 3.0\ne = 1e-3\ns = \"a # b\"\nl = [1, 2]\nm = [[1.5], []]\n[t.u]\nk = 0x10\n");
  EXPECT_TRUE(j.at("b").is_boolean());
  EXPECT_TRUE(j.at("i").is_number_integer());
  EXPECT_TRUE(j.at("x").is_number_float());
  EXPECT_EQ(j.at("e"), 1e-3);
  EXPECT_EQ(j.at("s"), "a # b");
  EXPECT_EQ(j.at("l"), json::array({1, 2}));
  EXPECT_EQ(j.at("m"), json::parse("[[1.5], []]"));
  EXPECT_EQ(j.at("t").at("u").at("k"), 16);
}

TEST(Toml, SyntaxErrorsHaveFileAndLine) {
  EXPECT_ERROR(parsed("a = 1\nb = \nc = 2\n"), ExitCode::usage, "test.toml:2: ");
  EXPECT_ERROR(parsed("a = 1\n\n[t\n"), ExitCode::usage, "test.toml:3: ");
  EXPECT_ERROR(parsed("a = 1\na = 2\n"), ExitCode::usage, "test.toml:2: ");
  EXPECT_ERROR(parsed("a = [1, 2\n"), ExitCode::usage, "test.toml:");
  EXPECT_ERROR(parsed("a = nonsense\n"), ExitCode::usage, "test.toml:1: ");
}

TEST(Toml, DatesAreRefusedWithFileAndLine) {
  EXPECT_ERROR(parsed("a = 1\nday = 2024-05-01\n"), ExitCode::usage, "test.toml:2: dates and times are not used");
  EXPECT_ERROR(parsed("a = [07:32:00]\n"), ExitCode::usage, "test.toml:1: dates and times are not used");
}

// Names that begin with a sign once ended the program.
TEST(Toml, SignsInNamesAreErrorsWithTheirLine) {
  EXPECT_ERROR(parsed("a = 1\n\n[$x]\nb = 2\n"), ExitCode::usage, "test.toml:3: a name may have letters");
  int refused = 0;
  for (int c = 1; c < 128; ++c)
    for (const std::string before : {"[", "[[", "[a.", "x = {", "x.", ""}) {
      const auto text = before + static_cast<char>(c) + "x]\n";
      try {
        parsed(text);
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith("test.toml:")) << text;
        ++refused;
      }
    }
  EXPECT_GT(refused, 400);
}

TEST(Toml, DepthIsLimited) {
  const auto repeated = [](const std::string& part, size_t times) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += part;
    return text;
  };
  for (const size_t parts : {size_t{1000}, size_t{60000}}) {
    EXPECT_ERROR(parsed("\n" + repeated("a.", parts) + "a = 1\n"), ExitCode::usage,
                 "test.toml:2: a key of more than 32");
    EXPECT_ERROR(parsed("[" + repeated("a . ", parts) + "a]\n"), ExitCode::usage, "test.toml:1: a key of more than 32");
    EXPECT_ERROR(parsed("['#'" + repeated(".'\\'", parts) + "]\n"), ExitCode::usage, "a key of more than 32");
    EXPECT_ERROR(parsed("x = [\"\"\"a\"\"\"\", {" + repeated("a.", parts) + "a = 1}]\n"), ExitCode::usage,
                 "more than 32");
    EXPECT_ERROR(parsed("x = " + repeated("[", parts) + "\n"), ExitCode::usage, "test.toml:1: ");
    EXPECT_ERROR(with(repeated("a.", parts) + "a=1"), ExitCode::usage, "parts, at most 32 are possible");
  }
  EXPECT_EQ(parsed("a.b.c = 1\n").at("a").at("b").at("c"), 1);
  const auto dots = repeated("a.", 100);
  EXPECT_EQ(parsed("# " + dots + "\nx = '" + dots + "' # " + dots).at("x"), dots);
  EXPECT_EQ(parsed("x = [" + repeated("0.5, ", 100) + "1.0]").at("x").size(), 101U);
  std::string nested = "x = 1";
  for (int i = 0; i < 20; ++i) nested = "x = {" + repeated("a.", 20) + nested + "}";
  EXPECT_ERROR(parsed(nested), ExitCode::usage, "nested deeper than 64");
}

TEST(Toml, SizeIsLimited) {
  EXPECT_ERROR(parsed("# " + std::string(size_t{5} << 20, 'x')), ExitCode::usage, "a config has at most");
}

TEST(Toml, RoundTrip) {
  const auto j = json::parse(
      R"({"b": false, "n": 9223372036854775807, "x": 0.30000000000000004, "whole": 2.0, "s": "a\"\\\n\u00fc",
                                 "empty": [], "l": [1, "two", [3.5]], "t": {"u": {}, "key with space": {"k": -0.0}}})");
  const auto back = parsed(to_toml(j));
  expect_same(back, j);
  EXPECT_TRUE(back.at("whole").is_number_float());
  EXPECT_TRUE(std::signbit(back.at("t").at("key with space").at("k").get<double>()));
}

TEST(Toml, WhatItCannotHoldIsRefused) {
  EXPECT_ERROR(to_toml({{"a", {{"b", nullptr}}}}), ExitCode::usage, "config key 'b' has no value");
  EXPECT_ERROR(to_toml({{"list", json::array({nullptr})}}), ExitCode::usage, "a config list may not hold null");
}

TEST(Merge, LaterTablesWinAndTablesMerge) {
  auto base = parsed("a = 1\nl = [1, 2, 3]\n[t]\nx = 1\ny = 2\n[t.u]\nk = 1\n");
  merge_config(base, parsed("l = [9]\nnew = true\n[t]\ny = 5\n[t.u]\nm = 2\n"));
  expect_same(base, json::parse(R"({"a": 1, "l": [9], "new": true, "t": {"x": 1, "y": 5, "u": {"k": 1, "m": 2}}})"));
}

TEST(Merge, ValueAndTableReplaceEachOther) {
  auto base = parsed("a = 1\n[t]\nx = 1\n");
  merge_config(base, parsed("t = 3\n[a]\ny = 2\n"));
  expect_same(base, json::parse(R"({"a": {"y": 2}, "t": 3})"));
}

TEST(Setting, ValuesHaveTheirTomlType) {
  EXPECT_EQ(with("steps=500").at("steps"), 500);
  EXPECT_TRUE(with("steps=500").at("steps").is_number_integer());
  EXPECT_TRUE(with("lr=1.0").at("lr").is_number_float());
  EXPECT_EQ(with("lr=3e-4").at("lr"), 3e-4);
  EXPECT_EQ(with("flag=true").at("flag"), true);
  EXPECT_EQ(with("name=\"500\"").at("name"), "500");
  EXPECT_EQ(with("modes=[12, 16]").at("modes"), json::array({12, 16}));
  EXPECT_EQ(with("adam={ lr = 0.5, ema = 0.9 }").at("adam").at("ema"), 0.9);
}

TEST(Setting, BareWordsAreStrings) {
  EXPECT_EQ(with("optimizer=lbfgs").at("optimizer"), "lbfgs");
  EXPECT_EQ(with("device=cuda:0").at("device"), "cuda:0");
  EXPECT_EQ(with("out=a=b").at("out"), "a=b");
  EXPECT_EQ(with("note=").at("note"), "");
  EXPECT_EQ(with("day=2024-05-01").at("day"), "2024-05-01");
}

TEST(Setting, NestedKeysReachIntoTablesAndMakeThem) {
  const auto config = with("train.adam.lr=0.5", parsed("[train]\nsteps = 3\n[train.adam]\nlr = 1\nema = 0.9\n"));
  expect_same(config, json::parse(R"({"train": {"steps": 3, "adam": {"lr": 0.5, "ema": 0.9}}})"));
  expect_same(with("a.b.c=1"), json::parse(R"({"a": {"b": {"c": 1}}})"));
}

TEST(Setting, LaterSettingsWin) { EXPECT_EQ(with("a.b=2", with("a.b=1")).at("a").at("b"), 2); }

TEST(Setting, WrongSyntaxIsRefused) {
  EXPECT_ERROR(with("steps"), ExitCode::usage, "--set steps: expected key=value");
  EXPECT_ERROR(with("=5"), ExitCode::usage, "--set =5: expected key=value");
  EXPECT_ERROR(with("a..b=5"), ExitCode::usage, "--set a..b=5: ");
  EXPECT_ERROR(with(".a=5"), ExitCode::usage, "--set .a=5: ");
  EXPECT_ERROR(with("a.=5"), ExitCode::usage, "--set a.=5: ");
}

TEST(Setting, KeysBelowPlainValuesAreRefused) {
  const auto config = parsed("steps = 3\nmodes = [1, 2]\n");
  EXPECT_ERROR(with("steps.more=5", config), ExitCode::usage, "--set steps.more=5: 'more' is below a plain value");
  EXPECT_ERROR(with("modes.0=5", config), ExitCode::usage, "'0' is below a plain value");
}

TEST(LoadConfig, ReadsAFile) {
  const TempDir folder;
  testing::write_text(folder / "mine.toml", "steps = 3\n");
  EXPECT_EQ(load_config((folder / "mine.toml").string()).at("steps"), 3);
}

TEST(LoadConfig, NamesTheFileOfAnError) {
  const TempDir folder;
  const auto path = (folder / "mine.toml").string();
  EXPECT_ERROR(load_config(path), ExitCode::data, path + ": no such file");
  testing::write_text(path, "steps = 3\nbroken\n");
  EXPECT_ERROR(load_config(path), ExitCode::usage, path + ":2: ");
}

TEST(LoadConfig, ABaseHoldsWhereTheConfigSaysNothing) {
  const TempDir folder;
  testing::write_text(folder / "ground.toml", "a = 1\nb = 2\n[t]\nx = 1\ny = 2\n");
  testing::write_text(folder / "middle.toml", "base = \"ground.toml\"\nb = 3\n[t]\ny = 4\nz = 5\n");
  testing::write_text(folder / "top.toml", "base = \"middle.toml\"\na = 9\n");
  expect_same(load_config((folder / "top.toml").string()), {{"a", 9}, {"b", 3}, {"t", {{"x", 1}, {"y", 4}, {"z", 5}}}});
  const auto preset = presets().at(0).name;
  testing::write_text(folder / "mine.toml", "base = \"" + preset + "\"\nmine = true\n");
  auto expected = load_config(preset);
  expected["mine"] = true;
  expect_same(load_config((folder / "mine.toml").string()), expected);
}

TEST(LoadConfig, OnlyRegularFilesAreRead) {
  const TempDir folder;
  std::filesystem::create_directory(folder / "folder.toml");
  std::filesystem::create_symlink("/dev/zero", folder / "device.toml");
  ASSERT_EQ(::mkfifo((folder / "pipe.toml").c_str(), 0600), 0);
  for (const auto name : {"folder.toml", "device.toml", "pipe.toml"})
    EXPECT_ERROR(load_config((folder / name).string()), ExitCode::data, std::string(name) + ": not a regular file");
}

TEST(LoadConfig, AWrongBaseIsRefused) {
  const TempDir folder;
  testing::write_text(folder / "a.toml", "base = \"b.toml\"\n");
  testing::write_text(folder / "b.toml", "base = \"a.toml\"\n");
  testing::write_text(folder / "c.toml", "base = 3\n");
  testing::write_text(folder / "d.toml", "base = \"nowhere.toml\"\n");
  testing::write_text(folder / "e.toml", "base = \"./../" + folder.path().filename().string() + "/./e.toml\"\n");
  EXPECT_ERROR(load_config((folder / "a.toml").string()), ExitCode::usage, "a.toml: is its own base");
  EXPECT_ERROR(load_config((folder / "e.toml").string()), ExitCode::usage, "e.toml: is its own base");
  EXPECT_ERROR(load_config((folder / "c.toml").string()), ExitCode::usage, "base must be the name");
  EXPECT_ERROR(load_config((folder / "d.toml").string()), ExitCode::data, "nowhere.toml: no such file");
}

TEST(LoadConfig, UnknownPresetIsRefusedWithTheNearest) {
  const auto& name = presets().at(0).name;
  EXPECT_ERROR(load_config(name + "x"), ExitCode::usage,
               fmt::format("unknown preset '{}x'; did you mean '{}'?", name, name));
}

TEST(Presets, AreTheFilesOfConfigs) {
  const auto folder = testing::golden("").parent_path().parent_path().parent_path() / "configs";
  const auto expect_files = [&](const std::vector<Preset>& list, const std::filesystem::path& of) {
    size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(of)) files += file.path().extension() == ".toml";
    EXPECT_EQ(list.size(), files);
    for (const auto& preset : list) EXPECT_EQ(preset.text, testing::read_text(folder / (preset.name + ".toml")));
  };
  expect_files(presets(), folder);
  expect_files(preset_bases(), folder / "base");
}

TEST(Presets, StandOnBasesThatAreNoPresets) {
  ASSERT_FALSE(preset_bases().empty());
  for (const auto& base : preset_bases()) {
    EXPECT_TRUE(base.name.starts_with("base/")) << base.name;
    EXPECT_FALSE(base.summary.empty()) << base.name;
    EXPECT_FALSE(load_config(base.name).contains("base"));
    for (const auto& preset : presets()) EXPECT_NE(preset.name, base.name);
  }
}

TEST(Presets, AllParseAndSayWhatTheyAre) {
  EXPECT_FALSE(presets().empty());
  for (const auto& preset : presets()) {
    const auto config = load_config(preset.name);
    EXPECT_FALSE(config.empty()) << preset.name;
    EXPECT_FALSE(preset.summary.empty()) << preset.name << " should begin with a comment line";
    expect_same(parsed(to_toml(config)), config);
  }
}

}  // namespace
}  // namespace piddm
