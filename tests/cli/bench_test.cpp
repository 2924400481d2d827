// `piddm bench spectral|fno|train|sample` at sizes that take no time: the keys of the JSON, and what its numbers must
// have to do with each other.

#include <limits>
#include <set>

#include "tests/cli/workshop.h"

namespace piddm {
namespace {

using testing::Arguments;
using testing::expect_failure;

Arguments tiny(const std::string& bench, const Arguments& more = {}) {
  Arguments all = {"bench", bench,     "--device", "cpu",     "--grid", "16",        "--batch",
                   "2",     "--width", "4",        "--modes", "4",      "--repeats", "1"};
  if (bench != "spectral") all.insert(all.end(), {"--layers", "2", "--lifting", "8", "--projection", "8"});
  if (bench == "sample") all.insert(all.end(), {"--steps", "3"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

json bench_json(const std::string& bench, Arguments more) {
  more.emplace_back("--json");
  return testing::only_json(testing::piddm(tiny(bench, more)));
}

void expect_row(const json& row, const std::string& bench, const json& ceilings) {
  SCOPED_TRACE(row.dump());
  EXPECT_EQ(row.at("bench"), bench);
  EXPECT_EQ(row.at("device"), "cpu");
  EXPECT_EQ(row.at("precision"), "fp32");
  const double ms = row.at("ms").get<double>();
  EXPECT_GT(ms, 0);
  ASSERT_TRUE(row.at("peer_ms").contains("fft"));
  EXPECT_EQ(row.at("peer_ms").size(), row.at("ratio").size());
  for (const auto& [peer, peer_ms] : row.at("peer_ms").items())
    EXPECT_NEAR(row.at("ratio").at(peer).get<double>(), peer_ms.get<double>() / ms, 1e-9 * peer_ms.get<double>() / ms);
  const double floor = std::max(row.at("gbps").get<double>() / ceilings.at("copy_gbps").get<double>(),
                                row.at("tflops").get<double>() / ceilings.at("gemm_tflops").get<double>());
  EXPECT_NEAR(row.at("floor_fraction").get<double>(), floor, 1e-9 * floor);
  EXPECT_NEAR(row.at("floor_ms").get<double>(), floor * ms, 1e-9 * floor * ms);
  EXPECT_GT(row.at("peak_bytes").get<int64_t>(), 1 << 20);
}

std::vector<std::string> whats_of(const json& result) {
  std::vector<std::string> out;
  for (const auto& row : result.at("rows")) out.push_back(row.at("what"));
  return out;
}

TEST(CliBench, RowsOfEveryBenchmark) {
  const std::map<std::string, std::vector<std::string>> works = {
      {"fno", {"forward", "train", "input-gradient"}},
      {"train", {"step"}},
      {"sample", {"teacher", "student", "latent-optimisation"}}};
  const testing::TempDir folder;
  for (const auto& [bench, whats] : works) {
    SCOPED_TRACE(bench);
    const auto file = folder / (bench + ".json");
    const auto outcome = testing::succeed(tiny(bench, {"--python", "none", "--json", file.string()}));
    EXPECT_THAT(outcome.out, ::testing::HasSubstr("PyTorch: absent (switched off with --python none)"));
    const auto result = json::parse(testing::read_text(file));
    EXPECT_EQ(whats_of(result), whats);
    EXPECT_TRUE(result.at("machine").contains("cpu"));
    EXPECT_EQ(result.at("settings").at("network").at("width"), 4);
    for (const auto& row : result.at("rows")) {
      EXPECT_EQ(row.at("batch"), 2);
      EXPECT_EQ(row.at("grid"), 16);
      EXPECT_FALSE(row.at("peer_ms").contains("torch"));
      expect_row(row, bench, result.at("ceilings"));
    }
  }
}

// The least work is counted by hand for batch 2, 16x16, width 4, 4 modes along x and 3 along y.
TEST(CliBench, LeastWorkOfALayerAndScaling) {
  const auto result = bench_json("spectral", {"--scaling", "--python", "none"});
  const double transforms = 2 * 4 * (2 * 16 * 16 * 3 * 4 + 2 * 16 * 4 * 3 * 8),
               maps = 8 * 2 * 4 * 3 * 16 + 2 * 2 * 256 * 16;
  const double activation = 4 * 2 * 4 * 256, parameters = 4 * (4 * 3 * 2 * 16 + 16 + 4);
  const std::vector<double> flop = {transforms + maps, 2 * transforms + 3 * maps};
  const std::vector<double> bytes = {2 * activation + parameters, 5 * activation + 3 * parameters};
  for (size_t i = 0; i < 2; ++i) {
    const auto& row = result.at("rows").at(i);
    expect_row(row, "spectral", result.at("ceilings"));
    EXPECT_NEAR(row.at("tflops").get<double>() * row.at("ms").get<double>() * 1e9, flop[i], 1e-6 * flop[i]);
    EXPECT_NEAR(row.at("gbps").get<double>() * row.at("ms").get<double>() * 1e6, bytes[i], 1e-6 * bytes[i]);
  }
  std::set<std::pair<int64_t, int64_t>> sizes;
  for (const auto& row : result.at("rows")) sizes.emplace(row.at("batch"), row.at("grid"));
  for (const int64_t batch : {1, 2, 4}) EXPECT_EQ(sizes.count({batch, 16}), 1U) << batch;
  for (const int64_t grid : {32, 64, 128, 256}) EXPECT_EQ(sizes.count({1, grid}), 1U) << grid;
  EXPECT_EQ(result.at("rows").size(), 2 * sizes.size());
  EXPECT_TRUE(result.at("skipped").empty());
}

// With Python's torch where it is installed; without, the key is absent and the report says why.
TEST(CliBench, PlainPyTorchIsAPeerWhereItIs) {
  const auto result = bench_json("train", {"--channels", "3"});
  const auto& peer = result.at("peers").at("torch");
  const auto& row = result.at("rows").at(0);
  EXPECT_EQ(row.at("peer_ms").contains("torch"), peer.contains("version")) << peer;
  EXPECT_NE(peer.contains("version"), peer.contains("absent"));
  expect_row(row, "train", result.at("ceilings"));
  const auto missing = testing::piddm(tiny("spectral", {"--python", "no-such-python"}));
  EXPECT_EQ(missing.code, 0);
  EXPECT_THAT(missing.out, ::testing::HasSubstr("absent (no no-such-python with torch here)"));
}

TEST(CliBench, TheCorrectorGetsBetterAndSlowerWithItsIterations) {
  const auto result =
      testing::only_json(testing::piddm({"bench", "corrector", "--device", "cpu", "--grid", "16x32", "--n", "2",
                                         "--repeats", "1", "--iterations", "0", "2", "5", "--json"}));
  ASSERT_EQ(result.at("rows").size(), 3U);
  double before = std::numeric_limits<double>::infinity();
  for (const auto& row : result.at("rows")) {
    const double residual = row.at("rel_residual").get<double>();
    EXPECT_LT(residual, before / 4);
    EXPECT_EQ(row.at("grid"), json({16, 32}));
    EXPECT_EQ(row.at("forward").at("ms").get<double>() > 0, row.at("iterations") > 0);
    before = residual;
  }
  EXPECT_EQ(
      testing::piddm({"bench", "corrector", "--device", "cpu", "--grid", "16", "--n", "1", "--repeats", "1"}).code, 0);
}

TEST(CliBench, PdesByTextTakeTurnsWithTheLibrarys) {
  const auto result = testing::only_json(testing::piddm({"bench", "pde", "--device", "cpu", "--grid", "16x24", "--n",
                                                         "2", "--repeats", "1", "--pde", "darcy", "heat", "--json"}));
  ASSERT_EQ(result.at("rows").size(), 2U);
  for (const auto& row : result.at("rows"))
    for (const char* const part : {"forward", "gradient"}) {
      const auto& times = row.at(part);
      EXPECT_GT(times.at("text_ms").get<double>(), 0);
      EXPECT_DOUBLE_EQ(times.at("ratio").get<double>(),
                       times.at("text_ms").get<double>() / times.at("library_ms").get<double>());
    }
  EXPECT_EQ(result.at("rows").at(1).at("pde"), "heat");
  EXPECT_EQ(testing::piddm({"bench", "pde", "--device", "cpu", "--grid", "16", "--n", "1", "--repeats", "1"}).code, 0);
  expect_failure({"bench", "pde", "--pde", "pme"}, ExitCode::usage, "unknown PDE with a text 'pme'");
}

TEST(CliBench, WhatCannotBeMeasuredIsRefused) {
  expect_failure({"bench"}, ExitCode::usage, "spectral, fno, train, sample, data, corrector or pde");
  expect_failure({"bench", "fnoo"}, ExitCode::usage, "did you mean 'fno'");
  const auto refused = [](const Arguments& more, ExitCode code, const std::string& text) {
    Arguments all = {"bench", "fno", "--device", "cpu", "--python", "none"};
    all.insert(all.end(), more.begin(), more.end());
    expect_failure(all, code, text);
  };
  refused({"--precision", "bf16"}, ExitCode::usage, "--precision bf16: only on a GPU");
  refused({"--precision", "tf23"}, ExitCode::usage, "did you mean 'tf32'");
  refused({"--modes", "7"}, ExitCode::usage, "--modes 7: must be even");
  refused({"--batch", "0"}, ExitCode::usage, "--batch: must be at least 1, got 0");
  refused({"--grid", "4"}, ExitCode::usage, "--grid: must be at least 8, got 4");
  refused({"--width", "0"}, ExitCode::usage, "--width: must be at least 1, got 0");
  refused({"--repeats", "0"}, ExitCode::usage, "--repeats: must be at least 1, got 0");
  refused({"--json", "/no/such/folder/x.json"}, ExitCode::resources, "--json /no/such/folder/x.json");
  expect_failure({"bench", "sample", "--steps", "0"}, ExitCode::usage, "--steps: must be at least 1, got 0");
}

}  // namespace
}  // namespace piddm
