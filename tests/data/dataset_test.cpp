#include "piddm/data/dataset.h"

#include <csignal>

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/data/check/data_check.h"
#include "piddm/data/data_file.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "piddm/pde/darcy.h"
#include "tests/data/fake_pde.h"
#include "tests/files/flips.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::FakePde;
using testing::TempDir;

class DatasetTest : public ::testing::Test {
 protected:
  void SetUp() override { set_progress_mode(ProgressMode::silent); }
  TempDir dir_;
};

TEST_F(DatasetTest, DescriptionSaysWhatItIs) {
  const auto data = make_dataset(FakePde(), 9, 5, 3);
  const auto said = describe(data);
  EXPECT_EQ(said.at("pde"), "fake");
  EXPECT_EQ(said.at("grid"), 4);
  EXPECT_EQ(said.at("channels"), (json{"u", "a", "s"}));
  EXPECT_EQ(said.at("parameters"), json::object());
  EXPECT_EQ(said.at("seed"), 9);
  EXPECT_EQ(said.at("first"), 5);
  EXPECT_EQ(said.at("n"), 3);
  EXPECT_EQ(said.at("dtype"), "float32");
  EXPECT_EQ(said.at("version"), 1);
  const double floor = data.description.floor.at("rel_residual");
  EXPECT_GT(floor, 0);  // float32 storage
  EXPECT_LT(floor, 1e-6);
  const auto exact = make_dataset(FakePde(), 9, 5, 3, 256, torch::kFloat64);
  EXPECT_EQ(exact.description.floor.at("pde_error"), 0);
  EXPECT_TRUE(exact.fields.equal(FakePde().sample(9, 5, 3)));
}

TEST_F(DatasetTest, DescriptionsAreWrittenAsTheyWereRead) {
  const json stranger = {{"channels", {"u"}}, {"pde", 3}, {"seed", "none"}, {"licence", "CC0"}, {"source", {{"n", 1}}}};
  const auto d = read_description(stranger);
  EXPECT_EQ(d.pde, "");  // not a name
  EXPECT_FALSE(d.seed.has_value());
  EXPECT_EQ(d.source.at("n"), 1);
  EXPECT_TRUE(d.parameters.is_null());
  const auto again = write_description(d, {"u"}, 2, 16, torch::kFloat64);
  for (const auto* key : {"pde", "seed", "licence", "source", "channels"}) EXPECT_EQ(again.at(key), stranger.at(key));
  EXPECT_EQ(again.at("n"), 2);
  EXPECT_FALSE(again.contains("parameters"));
  EXPECT_EQ(read_description(again), d);
  EXPECT_EQ(read_description(json()), DataDescription());
}

TEST_F(DatasetTest, BitsDoNotDependOnShardsThreadsOrWhereTheFileStarts) {
  const Darcy pde({.name = "darcy", .grid = 16});
  const int threads = torch::get_num_threads();
  const auto whole = make_dataset(pde, 4, 0, 12);
  EXPECT_THAT(whole.description.law, ::testing::HasSubstr("two-valued"));
  torch::set_num_threads(1);
  const auto shards = make_dataset(pde, 4, 0, 12, 5);
  torch::set_num_threads(threads);
  EXPECT_TRUE(shards.fields.equal(whole.fields));
  EXPECT_EQ(shards.description, whole.description);
  EXPECT_TRUE(make_dataset(pde, 4, 7, 5, 2).fields.equal(whole.fields.slice(0, 7)));
}

TEST_F(DatasetTest, SaveThenLoadInBothFormatsAndTypes) {
  const auto data = make_dataset(FakePde(), 1, 0, 4, 3, torch::kFloat64);
  for (const std::string name : {"d.npz", "d.safetensors"}) {
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
      save_dataset(dir_ / name, data, dtype);
      const auto again = load_dataset(dir_ / name);
      EXPECT_TRUE(again.fields.equal(data.fields.to(dtype)));
      EXPECT_EQ(again.fields.scalar_type(), dtype);
      EXPECT_EQ(again.channels, data.channels);
      EXPECT_EQ(describe(again).at("dtype"), dtype == torch::kFloat32 ? "float32" : "float64");
      EXPECT_EQ(again.description.seed, 1u);
    }
  }
  EXPECT_EQ(read_npz(dir_ / "d.npz").arrays.at("a").sizes(), (std::vector<int64_t>{4, 4, 4}));
}

TEST_F(DatasetTest, RefusesWhatDoesNotFit) {
  const auto path = dir_ / "d.npz";
  const auto ones = torch::ones({2, 4, 4});
  const auto expect_refused = [&](const Npz& npz, const std::string& reason) {
    write_npz(path, npz);
    EXPECT_ERROR(load_dataset(path), ExitCode::data, reason);
  };
  const std::map<std::string, std::string> text = {{"description.json", R"({"channels":["u","a"],"n":2,"grid":4})"}};
  expect_refused({{{"u", ones}}, text}, "d.npz: channel 'a' is missing");
  expect_refused({{{"u", ones}, {"a", torch::ones({2, 4, 5})}}, text}, "channel 'a' is (2,4,5), but 'u' is (2,4,4)");
  expect_refused({{{"u", torch::ones({2, 4})}, {"a", ones}}, text}, "channel 'u' must be (N,H,W), got (2,4)");
  expect_refused({{{"u", ones.slice(0, 0, 1)}, {"a", ones.slice(0, 0, 1)}}, text}, "says n = 2, the data 1");
  expect_refused({{{"u", ones}}, {}}, "no description.json");
  expect_refused({{{"u", ones}}, {{"description.json", "{"}}}, "not valid JSON");
  expect_refused({{{"u", ones}}, {{"description.json", "[]"}}}, "not an object");
  expect_refused({{{"u", ones}}, {{"description.json", "{}"}}}, "no list of channels");
  expect_refused({{{"u", ones}}, {{"description.json", R"({"channels":["u","u"]})"}}}, "'u' is listed twice");
  EXPECT_ERROR(load_dataset(dir_ / "none.npz"), ExitCode::data, "no such file");
  EXPECT_ERROR(load_dataset(dir_ / "d.csv"), ExitCode::usage, ".npz or .safetensors");
  write_safetensors(dir_ / "d.safetensors", {{"u", ones}});
  EXPECT_ERROR(load_dataset(dir_ / "d.safetensors"), ExitCode::data, "no description");
}

TEST_F(DatasetTest, NamesTheValueThatIsNotFinite) {
  auto data = make_dataset(FakePde(), 1, 0, 4);
  data.fields[2][1][3][0] = std::numeric_limits<float>::infinity();
  EXPECT_ERROR(save_dataset(dir_ / "d.npz", data), ExitCode::data, "channel 'a', sample 2, position (3,0) is inf");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "d.npz"));
  data.fields = torch::full({4, 3, 4, 4}, 1e300, torch::kFloat64);
  EXPECT_ERROR(save_dataset(dir_ / "d.npz", data), ExitCode::data, "is inf");  // too large for float32
  write_npz(dir_ / "e.npz",
            {{{"u", torch::full({1, 2, 2}, std::nan(""))}}, {{"description.json", R"({"channels":["u"]})"}}});
  EXPECT_ERROR(load_dataset(dir_ / "e.npz"), ExitCode::data, "channel 'u', sample 0, position (0,0) is nan");
}

TEST_F(DatasetTest, KeepsNonFiniteValuesOnRequest) {
  write_npz(dir_ / "e.npz",
            {{{"u", torch::full({1, 2, 2}, std::nan(""))}}, {{"description.json", R"({"channels":["u"]})"}}});
  EXPECT_TRUE(load_dataset(dir_ / "e.npz", Faults::keep).fields.isnan().all().item<bool>());
}

TEST_F(DatasetTest, ARectangleIsReadAsItWasWritten) {
  const auto pde = make_pde({.name = "darcy", .grid = {24, 16}, .parameters = {{"length_x", 1.5}}});
  const auto data = make_dataset(*pde, 3, 0, 2);
  for (const char* name : {"d.npz", "d.safetensors"}) {
    save_dataset(dir_ / name, data);
    const auto loaded = load_dataset(dir_ / name);
    EXPECT_TRUE(loaded.fields.equal(data.fields));
    EXPECT_EQ(describe(loaded).at("grid"), (json{24, 16}));
    EXPECT_EQ(describe(loaded).at("parameters"), (json{{"length_x", 1.5}}));  // the other length goes without saying
    const auto again = pde_of(loaded);
    EXPECT_EQ(again->grid(), GridSize(24, 16));
    EXPECT_EQ(again->axes()[0].length, 1.5);
    EXPECT_NO_THROW(check_matches(loaded, *pde));
    EXPECT_ERROR(check_matches(loaded, *make_pde({.name = "darcy", .grid = {24, 16}})), ExitCode::data,
                 "length_x = 1.5, not 1");
  }
  write_npz(dir_ / "wrong.npz",
            {{{"u", torch::ones({1, 4, 6})}}, {{"description.json", R"({"channels":["u"],"grid":[6,4]})"}}});
  EXPECT_ERROR(load_dataset(dir_ / "wrong.npz"), ExitCode::data, "the description says grid = [6,4], the data [4,6]");
}

TEST_F(DatasetTest, KnowsItsPdeAndParameters) {
  const auto pde = make_pde({.name = "stokes", .grid = 16, .parameters = {{"k", 4.0}}});
  auto data = make_dataset(*pde, 0, 0, 2);
  EXPECT_EQ(data.description.parameters.at("k"), 4.0);
  EXPECT_GE(data.description.floor.at("boundary_error").get<double>(), 0);
  const auto again = pde_of(data);
  EXPECT_EQ(again->name(), "stokes");
  EXPECT_EQ(again->grid(), 16);
  EXPECT_TRUE(again->sample(0, 0, 1).equal(pde->sample(0, 0, 1)));
  EXPECT_EQ(pde_of(data, "heat")->name(), "heat");
  data.description.parameters["kk"] = 1;
  EXPECT_ERROR(pde_of(data), ExitCode::usage, "kk");
  data.description.pde.clear();
  EXPECT_ERROR(pde_of(data), ExitCode::usage, "which PDE");
  EXPECT_EQ(pde_of(data, "darcy")->name(), "darcy");
}

TEST_F(DatasetTest, DataOfAnotherPdeDoNotMatch) {
  const auto darcy = make_pde({.name = "darcy", .grid = 16}), poisson = make_pde({.name = "poisson", .grid = 16});
  auto data = make_dataset(*poisson, 0, 0, 2);
  EXPECT_NO_THROW(check_matches(data, *poisson));
  EXPECT_ERROR(check_matches(data, *darcy), ExitCode::data, "[darcy] these data are of poisson");
  EXPECT_FALSE(check_dataset(data, *darcy, {}).pass());  // `data check --pde darcy` may ask
  data.description.pde.clear();
  EXPECT_NO_THROW(check_matches(data, *darcy));
}

TEST_F(DatasetTest, DataWithOtherConstantsDoNotMatch) {
  const auto usual = make_pde({.name = "helmholtz", .grid = 16});
  const auto other = make_pde({.name = "helmholtz", .grid = 16, .parameters = {{"k", 3.0}}});
  const auto k = usual->parameters().front().value.dump();
  auto data = make_dataset(*other, 0, 0, 2);
  EXPECT_NO_THROW(check_matches(data, *other));
  EXPECT_ERROR(check_matches(data, *usual), ExitCode::data, "[helmholtz] these data are of k = 3.0, not " + k);
  data.description.parameters = json::object();  // the defaults
  EXPECT_NO_THROW(check_matches(data, *usual));
  EXPECT_ERROR(check_matches(data, *other), ExitCode::data, "these data are of k = " + k + ", not 3.0");
  data.description.parameters["k"] = "three";
  EXPECT_ERROR(check_matches(data, *other), ExitCode::data, "k = \"three\"");
  data.description.parameters = {};
  EXPECT_NO_THROW(check_matches(data, *other));
}

TEST_F(DatasetTest, AFormOfTheResidualIsNoMatterOfTheData) {
  const auto compact = make_pde({.name = "burgers", .grid = 16});
  const auto wide = make_pde({.name = "burgers", .grid = 16, .parameters = {{"residual", "wide"}}});
  EXPECT_NO_THROW(check_matches(make_dataset(*compact, 0, 0, 1), *wide));
}

/// -lap(u) + k u = f; k = 4 unless it is said.
PdeOptions decay_by_text(const std::string& equation = "-lap(u) + k*u = f") {
  const json table = {{"name", "decay"},
                      {"equation", equation},
                      {"grid", {{"x", {0, 1, 16, "nodes"}}, {"y", {0, 2, 24, "nodes"}}}},
                      {"boundary", {{"x", "u = 0"}, {"y", "u = 0"}}},
                      {"parameters", {{"k", 4.0}}},
                      {"coefficients", {{"f", "field: gauss(alpha=2, tau=3) -> 10*g"}}}};
  return {.name = "decay", .grid = {16, 24}, .definition = {.table = table}};
}

TEST_F(DatasetTest, APdeByTextTravelsWithItsData) {
  auto options = decay_by_text();
  options.parameters = {{"k", 2.0}};
  for (const std::string name : {"d.npz", "d.safetensors"}) {
    save_dataset(dir_ / name, make_dataset(*make_pde(options), 9, 0, 2));
    const auto data = load_dataset(dir_ / name);
    const auto pde = pde_of(data);
    EXPECT_EQ(pde->options().definition.table, options.definition.table);
    EXPECT_EQ(pde->parameters().front().value, 2.0);
    check_matches(data, *pde);
    EXPECT_LT(pde->pde_error(data.fields.to(torch::kFloat64)).max().item<double>(), 1e-6);
  }
}

TEST_F(DatasetTest, DataOfAnotherTextOfTheSameNameDoNotMatch) {
  const auto data = make_dataset(*make_pde(decay_by_text()), 9, 0, 2);
  EXPECT_ERROR(check_matches(data, *make_pde(decay_by_text("-lap(u) + k*u^3 = f"))), ExitCode::data,
               "[decay] these data are of another PDE of this name: equation is \"-lap(u) + k*u = f\", not "
               "\"-lap(u) + k*u^3 = f\"");
  auto other = decay_by_text();
  other.parameters = {{"k", 3.0}};
  EXPECT_ERROR(check_matches(data, *make_pde(other)), ExitCode::data, "these data are of k = 4.0, not 3.0");
  other.parameters = {{"k", 4.0}};
  EXPECT_NO_THROW(check_matches(data, *make_pde(other)));
  auto unsaid = data;
  unsaid.description.parameters = json::object();  // the text's own
  EXPECT_NO_THROW(check_matches(unsaid, *make_pde(other)));
}

TEST_F(DatasetTest, TheDigestOfAnOverwrittenFileIsRemoved) {
  const auto data = make_dataset(FakePde(), 1, 0, 2);
  for (const std::string name : {"d.npz", "d.safetensors"}) {
    save_dataset(dir_ / name, data);
    write_digest(dir_ / name);
    save_dataset(dir_ / name, make_dataset(FakePde(), 2, 0, 2));
    EXPECT_EQ(read_digest(dir_ / name), "");
  }
}

TEST_F(DatasetTest, RefusesBadRequests) {
  EXPECT_ERROR(make_dataset(FakePde(), 1, 0, 0), ExitCode::usage, "samples to make: must be at least 1, got 0");
  EXPECT_ERROR(make_dataset(FakePde(), 1, 0, 2, 2, torch::kFloat16), ExitCode::usage, "float32 or float64");
  auto data = make_dataset(FakePde(), 1, 0, 2);
  EXPECT_ERROR(check_matches(data, FakePde(8)), ExitCode::data, "expected (B,3,8,8)");
  EXPECT_ERROR(check_matches(data, FakePde(8)), ExitCode::data,
               "the data have a grid of 4x4; equations here have 16 to 1024");
  data.channels = {"u", "a", "t"};
  EXPECT_ERROR(check_matches(data, FakePde()), ExitCode::data, R"(got ["u","a","t"])");
  data.channels = {"u", "a", "a"};
  EXPECT_ERROR(save_dataset(dir_ / "d.npz", data), ExitCode::data, "listed twice");
  data.channels = {"u"};
  EXPECT_ERROR(save_dataset(dir_ / "d.npz", data), ExitCode::data, "expected fields (N,1,H,W)");
}

TEST(DatasetInterrupt, StopsTheGeneration) {
  set_progress_mode(ProgressMode::silent);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        std::raise(SIGINT);
        try {
          make_dataset(FakePde(), 1, 0, 2);
        } catch (const Interrupted&) {
          std::_Exit(130);
        }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST_F(DatasetTest, NoBitOfAFileChangesUnnoticed) {
  for (const std::string name : {"d.npz", "d.safetensors"}) {
    save_dataset(dir_ / name, make_dataset(FakePde(), 9, 0, 2));
    const auto content = [&] {
      const auto data = load_dataset(dir_ / name);
      return describe(data).dump() + std::string(bytes_of(data.fields));
    };
    testing::expect_no_silent_damage(dir_ / name, content, 2000);
  }
}

TEST_F(DatasetTest, TheDigestBesideAFileIsCompared) {
  save_dataset(dir_ / "d.npz", make_dataset(FakePde(), 9, 0, 2));
  write_digest(dir_ / "d.npz");
  EXPECT_NO_THROW(load_dataset(dir_ / "d.npz"));
  const auto digest = testing::read_text(digest_path(dir_ / "d.npz"));
  save_dataset(dir_ / "d.npz", make_dataset(FakePde(), 9, 1, 2));  // removes the digest of the file before
  EXPECT_NO_THROW(load_dataset(dir_ / "d.npz"));
  testing::write_text(digest_path(dir_ / "d.npz"), digest);
  EXPECT_ERROR(load_dataset(dir_ / "d.npz"), ExitCode::data, "d.npz: damaged (its SHA-256 is not the one in");
  EXPECT_NO_THROW(load_dataset(dir_ / "d.npz", Faults::keep));
}

TEST_F(DatasetTest, AFileOfALaterVersionIsRefused) {
  auto description = describe(make_dataset(FakePde(), 9, 0, 1));
  description["version"] = 2;
  const auto x = torch::zeros({1, 4, 4});
  write_data_file(dir_ / "d.npz", {{{"u", x}, {"a", x}, {"s", x}}, description});
  EXPECT_ERROR(load_dataset(dir_ / "d.npz"), ExitCode::data, "d.npz: written by a later version of piddm (data 2");
}

}  // namespace
}  // namespace piddm
