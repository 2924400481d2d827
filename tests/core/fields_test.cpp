#include "piddm/core/fields.h"

#include "piddm/core/registry.h"
#include "piddm/core/toml_text.h"
#include "tests/testing.h"

namespace piddm {
namespace {

enum class Colour { red, green, blue };
std::vector<std::string> enum_names(Colour) { return {"red", "green", "blue"}; }

struct Inner {
  double rate = 1e-3;
  std::vector<int64_t> modes = {32, 32};

  template <class V>
  void fields(V&& f) {
    f("rate", rate, "a rate");
    f("modes", modes, "two numbers");
  }
};

struct Outer {
  bool flag = false;
  int64_t steps = 100;
  std::string name = "plain";
  Colour colour = Colour::green;
  std::vector<Colour> palette;
  std::vector<double> weights;
  Inner inner;
  json raw = json::object();

  template <class V>
  void fields(V&& f) {
    f("flag", flag, "a switch");
    f("steps", steps, "a count");
    f("name", name, "a word");
    f("colour", colour, "one of three");
    f("palette", palette, "several of three");
    f("weights", weights, "numbers");
    f("inner", inner, "a table");
    f("raw", raw, "anything");
  }
};

Outer read(const json& j) {
  Outer options;
  read_fields(j, options);
  return options;
}

Outer unusual() {
  Outer o;
  o.flag = true;
  o.steps = -9007199254740993;  // not a double
  o.name = "with \"quotes\", \\ and \xc3\xbc\n";
  o.colour = Colour::blue;
  o.palette = {Colour::red, Colour::blue};
  o.weights = {0.1 + 0.2, 1e-300, 5e-324, -1.7976931348623157e308, 3, 1.0 / 3, 123456789012345680.0};
  o.inner = {2e-4, {}};
  o.raw = json{{"type", "fno"}, {"deep", {{"list", {{1, 2}, {3}}}, {"real", 2.0}}}};
  return o;
}

TEST(Fields, AbsentKeysKeepTheirDefaults) {
  const auto o = read({{"steps", 7}, {"inner", {{"rate", 0.5}}}});
  EXPECT_EQ(o.steps, 7);
  EXPECT_EQ(o.inner.rate, 0.5);
  EXPECT_EQ(o.name, "plain");
  EXPECT_EQ(o.inner.modes, (std::vector<int64_t>{32, 32}));
}

TEST(Fields, EveryTypeIsRead) {
  const auto o =
      read(json::parse(R"({"flag": true, "steps": 3, "name": "x", "colour": "blue", "palette": ["green", "red"],
                                      "weights": [1, 2.5], "inner": {"modes": [1, 2, 3]}, "raw": [null, "any"]})"));
  EXPECT_TRUE(o.flag);
  EXPECT_EQ(o.steps, 3);
  EXPECT_EQ(o.name, "x");
  EXPECT_EQ(o.colour, Colour::blue);
  EXPECT_EQ(o.palette, (std::vector<Colour>{Colour::green, Colour::red}));
  EXPECT_EQ(o.weights, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(o.inner.modes, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(o.raw, (json::array({nullptr, "any"})));
}

TEST(Fields, UnknownKeysAreRefusedWithTheNearestName) {
  EXPECT_ERROR(read({{"setps", 3}}), ExitCode::usage, "unknown key 'setps'; did you mean 'steps'?");
  EXPECT_ERROR(read({{"inner", {{"mods", 3}}}}), ExitCode::usage,
               "unknown key of [inner] 'mods'; did you mean 'modes'?");
  EXPECT_ERROR(read({{"inner", {{"completely_different", 3}}}}), ExitCode::usage, "known: rate, modes");
  EXPECT_ERROR(read({{"Flag", true}}), ExitCode::usage, "did you mean 'flag'?");
}

TEST(Fields, UnknownValuesAreRefusedWithTheNearestName) {
  EXPECT_ERROR(read({{"colour", "gren"}}), ExitCode::usage, "colour: unknown value 'gren'; did you mean 'green'?");
  EXPECT_ERROR(read({{"palette", {"red", "ultraviolet"}}}), ExitCode::usage,
               "palette[1]: unknown value 'ultraviolet'; known: red, green, blue");
}

TEST(Fields, WrongTypesNameTheKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"flag": 1})", "flag: expected true or false, got 1"},
      {R"({"steps": 1.5})", "steps: expected a whole number, got 1.5"},
      {R"({"steps": 2.0})", "steps: expected a whole number, got 2.0"},
      {R"({"steps": true})", "steps: expected a whole number, got true"},
      {R"({"name": 3})", "name: expected a string, got 3"},
      {R"({"colour": 1})", "colour: expected a name, got 1"},
      {R"({"palette": "red"})", "palette: expected a list, got \"red\""},
      {R"({"weights": [1, "two"]})", "weights[1]: expected a number, got \"two\""},
      {R"({"inner": {"rate": "fast"}})", "inner.rate: expected a number, got \"fast\""},
      {R"({"inner": {"modes": [1, 2.5]}})", "inner.modes[1]: expected a whole number, got 2.5"},
      {R"({"inner": 3})", "inner: expected a table, got 3"},
      {R"([1])", "config: expected a table, got [1]"},
  };
  for (const auto& [text, message] : cases) EXPECT_ERROR(read(json::parse(text)), ExitCode::usage, message);
}

TEST(Fields, PathIsPutBeforeTheKeys) {
  Inner inner;
  EXPECT_ERROR(read_fields(json{{"rate", false}}, inner, "train.adam"), ExitCode::usage, "train.adam.rate: expected");
}

TEST(Fields, RoundTripThroughTomlKeepsEveryBit) {
  const auto before = unusual();
  const auto written = write_fields(before);
  const auto after = read(parse_toml(to_toml(written), "round trip"));
  EXPECT_EQ(after.flag, before.flag);
  EXPECT_EQ(after.steps, before.steps);
  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.colour, before.colour);
  EXPECT_EQ(after.palette, before.palette);
  EXPECT_EQ(after.weights, before.weights);
  EXPECT_EQ(after.inner.rate, before.inner.rate);
  EXPECT_EQ(after.inner.modes, before.inner.modes);
  EXPECT_EQ(nlohmann::json(after.raw), nlohmann::json(before.raw));  // TOML does not keep the order of a table
  EXPECT_TRUE(after.raw.at("deep").at("real").is_number_float());
}

TEST(Fields, WrittenInTheOrderOfDeclaration) {
  const auto written = write_fields(Outer{});
  std::vector<std::string> keys;
  for (const auto& [key, unused] : written.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"flag", "steps", "name", "colour", "palette", "weights", "inner", "raw"}));
}

TEST(Fields, DescriptionHasEveryKeyDefaultAndMeaning) {
  const auto text = describe_fields<Outer>();
  for (const std::string line : {"flag = false", "colour = \"green\"", "inner.rate = 0.001", "inner.modes = [32,32]",
                                 "# one of three", "# two numbers", "# a table"})
    EXPECT_THAT(text, ::testing::HasSubstr(line));
}

struct Bounded {
  int64_t count = 3;
  double share = 0.5;
  uint64_t seed = 1;
  std::vector<int64_t> list = {};
  template <class V>
  void fields(V&& f) {
    f("count", count, at_least(1), "how many");
    f("share", share, from_to_below(0, 1), "of the whole");
    f("seed", seed, "of random numbers");
    f("list", list, more_than(0), "numbers");
  }
  static std::vector<FormerKey> former_keys() {
    return {{"number", "count"}, {"old.inner.part", "share"}, {"old", "", "it had no effect"}};
  }
};

Bounded read_bounded(const json& j, FormerKeys policy = FormerKeys::refuse) {
  Bounded out;
  read_fields(j, out, "b", policy);
  return out;
}

TEST(Fields, NumbersOutOfBoundsNameTheKey) {
  EXPECT_ERROR(read_bounded({{"count", 0}}), ExitCode::usage, "b.count: must be at least 1, got 0");
  EXPECT_ERROR(read_bounded({{"share", 1}}), ExitCode::usage, "b.share: must be at least 0 and below 1, got 1");
  EXPECT_ERROR(read_bounded({{"list", {2, 0}}}), ExitCode::usage, "b.list: must be more than 0, got 0");
  EXPECT_ERROR(check_bounds(Bounded{.count = -2}, "c"), ExitCode::usage, "c.count: must be at least 1, got -2");
  EXPECT_NO_THROW(check_bounds(Bounded{}, "c"));
}

TEST(Fields, UnsignedNumbersAreNotNegative) {
  EXPECT_ERROR(read_bounded({{"seed", -1}}), ExitCode::usage, "b.seed: must not be negative, got -1");
  EXPECT_EQ(read_bounded({{"seed", 18446744073709551615U}}).seed, 18446744073709551615U);
}

TEST(Fields, FormerKeysAreRefusedWithWhatToWriteOrReadAsTheyWereMeant) {
  EXPECT_ERROR(read_bounded({{"number", 2}}), ExitCode::usage, "b.number is now b.count");
  EXPECT_ERROR(read_bounded({{"old", {{"other", 2}}}}), ExitCode::usage, "b.old is gone: it had no effect");
  const json nested = {{"number", 7}, {"old", {{"inner", {{"part", 0.25}, {"rest", 1}}}}}};
  EXPECT_ERROR(read_bounded({{"old", {{"inner", {{"part", 0.25}}}}}}), ExitCode::usage,
               "b.old.inner.part is now b.share");
  const auto read = read_bounded(nested, FormerKeys::accept);
  EXPECT_EQ(read.count, 7);
  EXPECT_EQ(read.share, 0.25);
}

struct Chooser {
  std::string own = "a";
  int64_t value = 0;
  template <class V>
  void fields(V&& f) {
    f("own", own, "which table");
    f(own.c_str(), value, "its number");
  }
  json own_keys(json table, const std::string&, FormerKeys) const {
    const auto chosen = table.value("own", own);
    for (const char* name : {"a", "b"})
      if (name != chosen) table.erase(name);
    return table;
  }
};

TEST(Fields, KeysMayDependOnAMember) {
  Chooser chooser;
  read_fields({{"own", "b"}, {"a", "of no interest"}, {"b", 4}}, chooser);
  EXPECT_EQ(chooser.value, 4);
  EXPECT_EQ(write_fields(chooser).dump(), R"({"own":"b","b":4})");
  EXPECT_ERROR(read_fields({{"c", 4}}, chooser), ExitCode::usage, "unknown key 'c'");
}

TEST(NearestName, PrefersTheSmallestDistance) {
  const std::vector<std::string> names = {"forward", "inverse", "generate", "reconstruct"};
  EXPECT_EQ(nearest_name("foward", names), "forward");
  EXPECT_EQ(nearest_name("invers", names), "inverse");
  EXPECT_EQ(nearest_name("genreate", names), "generate");
  EXPECT_EQ(nearest_name("reconstruction", names), "reconstruct");
  EXPECT_EQ(nearest_name("zzzzzz", names), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
  EXPECT_EQ(nearest_name("v", {"D", "u0"}), "");
  EXPECT_EQ(nearest_name("uo", {"D", "u0"}), "u0");
}

TEST(Registry, UnknownNamesAreRefusedWithTheNearest) {
  const Registry<int()> registry("shape",
                                 {{"circle", "round", [] { return 1; }}, {"square", "four", [] { return 4; }}});
  EXPECT_EQ(registry.at("square")(), 4);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"circle", "square"}));
  EXPECT_ERROR(registry.at("circel"), ExitCode::usage, "unknown shape 'circel'; did you mean 'circle'?");
}

struct Numbers {
  double any = 0;
  double weight = 0;
  std::vector<double> several = {};
  int64_t samples = 1;
  int threads = 1;

  template <class V>
  void fields(V&& f) {
    f("any", any, "without bounds");
    f("weight", weight, at_least(0), "bounded below");
    f("several", several, "without bounds");
    f("samples", samples, count_from(1), "a count");
    f("threads", threads, "a small number");
  }
};

TEST(Fields, NumbersMustBeFiniteWithOrWithoutBounds) {
  const auto reading = [](const json& config) {
    Numbers numbers;
    read_fields(config, numbers, "solve");
  };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {inf, -inf, nan}) {
    EXPECT_ERROR(reading({{"any", value}}), ExitCode::usage, "solve.any: must be a finite number, got ");
    EXPECT_ERROR(reading({{"weight", value}}), ExitCode::usage, "solve.weight: must be a finite number, got ");
    EXPECT_ERROR(reading({{"several", {1.0, value}}}), ExitCode::usage, "solve.several: must be a finite number");
    EXPECT_ERROR(check_bounds(Numbers{.any = value}), ExitCode::usage, "any: must be a finite number");
  }
  EXPECT_NO_THROW(reading({{"any", -1e300}, {"weight", 0}}));
}

TEST(Fields, CountsEndWhereOnlySlipsOfThePenAre) {
  const auto reading = [](const json& config) {
    Numbers numbers;
    read_fields(config, numbers);
  };
  EXPECT_NO_THROW(reading({{"samples", 1'000'000'000}}));
  EXPECT_ERROR(reading({{"samples", 1'000'000'000'000}}), ExitCode::usage,
               "samples: must be at most 1000000000, got 1000000000000");
  EXPECT_ERROR(reading({{"samples", 0}}), ExitCode::usage, "samples: must be at least 1, got 0");
  EXPECT_ERROR(reading({{"threads", int64_t{1} << 40}}), ExitCode::usage, "threads: 1099511627776 is too large");
}

}  // namespace
}  // namespace piddm
