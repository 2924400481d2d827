// `--json` prints exactly one JSON object, and only that, on standard output.

#include "piddm/core/config.h"
#include "piddm/core/sha256.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

using testing::Arguments;
using testing::Workshop;

json run_json(Arguments arguments) {
  arguments.emplace_back("--json");
  return testing::only_json(testing::piddm(arguments));
}

TEST(CliJson, ListsAndDoctor) {
  for (const char* what : {"pdes", "models", "methods", "metrics", "presets"})
    EXPECT_FALSE(run_json({"list", what}).empty()) << what;
  EXPECT_TRUE(run_json({"list", "presets"}).contains(presets().front().name));
  const auto doctor = run_json({"doctor"});
  EXPECT_EQ(doctor.at("threads").get<int>(), std::stoi(testing::two_threads()[1]));
  EXPECT_GT(doctor.at("sgemm_gflops").get<double>(), 0);
}

TEST(CliJson, Data) {
  const testing::TempDir folder;
  const auto file = (folder / "data.npz").string();
  EXPECT_EQ(run_json({"data", "make", "darcy", "--n", "3", "--grid", "16", "--out", file}).at("description").at("n"),
            3);
  const auto info = run_json({"data", "info", file});
  EXPECT_EQ(info.at("n"), 3);
  EXPECT_EQ(info.at("channels").at("a").at("max"), 12.0);
  EXPECT_EQ(run_json({"data", "check", file}).at("pass"), true);
}

TEST(CliJson, TrainingAndSampling) {
  const auto& shop = Workshop::get();
  const testing::TempDir folder;
  const auto out = [&](const char* name) { return (folder / name).string(); };
  const auto train = run_json({"train", shop.config(), "--data", shop.at("data.npz"), "--out", out("teacher")});
  EXPECT_EQ(train.at("provenance").at("steps"), 20);
  EXPECT_EQ(run_json({"distill", "--teacher", out("teacher"), "--out", out("student")}).at("model"),
            out("student/model"));
  const auto generated =
      run_json({"generate", out("student"), "--n", "4", "--refine", "3", "--out", out("samples.npz")});
  EXPECT_EQ(generated.at("nfe"), 3.0);
  EXPECT_EQ(generated.at("backward"), 3.0);
  const auto solved = run_json({"solve", out("student"), "--task", "forward", "--observe", shop.at("other.npz"), "--n",
                                "2", "--out", out("solved.npz")});
  EXPECT_EQ(solved.at("nfe"), 5.0);
  EXPECT_LT(solved.at("mse_a").get<double>(), 1e-10);
  const auto judged = run_json({"evaluate", out("samples.npz"), out("student"), "--n", "4", "--reference",
                                shop.at("other.npz"), "--out", out("report.json")});
  EXPECT_EQ(judged.at("samples").at(out("samples.npz")).at("nfe"), 3.0);
  EXPECT_EQ(judged.at("samples").at(out("student")).at("nfe"), 1.0);
  EXPECT_EQ(json::parse(testing::read_text(folder / "report.json")), judged);
  EXPECT_EQ(run_json({"plot", out("samples.npz")}).at("out"), out("samples.png"));
}

TEST(CliJson, SameSeedSameFileForAnyNumberOfThreads) {
  const testing::TempDir folder;
  const auto hash = [&](const std::string& threads, const std::string& seed) {
    const auto file = folder / (threads + "-" + seed + ".npz");
    testing::succeed({"data", "make", "darcy", "--n", "5", "--grid", "16", "--seed", seed, "--threads", threads,
                      "--out", file.string()});
    return sha256_file(file);
  };
  const auto one = hash("1", "7");
  EXPECT_EQ(one, hash(testing::two_threads()[1], "7"));
  EXPECT_NE(one, hash("1", "8"));
}

TEST(Cli, HelpAndVersion) {
  const auto help = testing::piddm({"--help"}), version = testing::piddm({"--version"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"demo", "doctor", "train", "distill", "generate", "solve", "evaluate", "plot"})
    EXPECT_THAT(help.out, ::testing::HasSubstr(command));
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out.rfind("piddm ", 0), 0U);
  const auto keys = testing::piddm({"train", "--keys"});
  EXPECT_THAT(keys.out, ::testing::HasSubstr("train.steps"));
}

}  // namespace
}  // namespace piddm
