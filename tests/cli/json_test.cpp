// `--json` prints exactly one JSON object, and only that, on standard output.

#include "piddm/core/config.h"
#include "piddm/data/dataset.h"
#include "piddm/files/json_file.h"
#include "piddm/files/sha256.h"
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

TEST(CliJson, DataInShardsWithAParameter) {
  const testing::TempDir folder;
  const Arguments make = {"data",
                          "make",
                          "stokes",
                          "--n",
                          "7",
                          "--grid",
                          "16",
                          "--param",
                          "k=4",
                          "--shards",
                          "3",
                          "--out",
                          (folder / "s.npz").string()};
  const auto made = run_json(make);
  const auto index = made.at("out").get<std::string>();
  EXPECT_EQ(index, (folder / "s.json").string());
  EXPECT_EQ(made.at("description").at("parameters").at("k"), 4);
  EXPECT_EQ(made.at("description").at("shards").size(), 3u);
  auto again = make;
  again.emplace_back("--resume");
  EXPECT_EQ(run_json(again).at("kept"), 3);
  EXPECT_EQ(run_json({"data", "check", index}).at("pass"), true);
  const auto other = testing::piddm({"data", "check", index, "--param", "k=5", "--plot", (folder / "w.png").string()});
  EXPECT_EQ(other.code, static_cast<int>(ExitCode::data));
  EXPECT_THAT(other.err, ::testing::HasSubstr("parameter k: fitted - declared (fitted 3.99"));
  EXPECT_EQ(testing::read_text(folder / "w.png").substr(1, 3), "PNG");
  for (const char* kind : {"samples", "trajectories", "spectra"})
    EXPECT_TRUE(std::filesystem::exists(run_json({"plot", index, "--kind", kind}).at("out").get<std::string>()));
}

TEST(CliJson, GivenConstraint) {
  const testing::TempDir folder;
  const auto file = (folder / "d.npz").string(), rule = (folder / "rule.toml").string();
  testing::succeed({"data", "make", "stefan", "--n", "3", "--grid", "16", "--out", file});
  testing::write_text(rule, "kind = 'boundary'\nside = 'first'\nvalue = 1.0\n");
  EXPECT_EQ(run_json({"data", "check", file, "--constraint", rule}).at("pass"), true);
  testing::write_text(rule, "kind = 'boundary'\nside = 'first'\nvalue = 1.01\n");
  EXPECT_EQ(testing::piddm({"data", "check", file, "--constraint", rule}).code, static_cast<int>(ExitCode::data));
}

TEST(CliJson, PdesWithChannelsAndParameters) {
  const auto pdes = run_json({"list", "pdes"});
  EXPECT_EQ(pdes.at("stokes").at("channels")[1].at("name"), "omega");
  EXPECT_EQ(pdes.at("stokes").at("channels")[1].at("scalar"), true);
  EXPECT_EQ(pdes.at("stokes").at("parameters")[1].at("value"), 5.0);
  EXPECT_THAT(pdes.at("darcy").at("summary").get<std::string>(), ::testing::HasSubstr("-div(a grad u) = 1"));
  EXPECT_THAT(testing::piddm({"list", "pdes"}).out, ::testing::HasSubstr("k = 5.0   wave number"));
}

TEST(CliJson, ExportAndImport) {
  const testing::TempDir folder;
  const auto file = (folder / "d.npz").string(), back = (folder / "back.npz").string();
  testing::succeed({"data", "make", "burgers", "--n", "3", "--grid", "16", "--out", file});
  std::vector<std::string> formats = {"safetensors"};
  if (run_json({"doctor"}).at("hdf5") != "off") formats.insert(formats.end(), {"hdf5", "well"});
  for (const auto& format : formats) {
    SCOPED_TRACE(format);
    const auto there = (folder / ("d." + (format == "safetensors" ? format : format + ".h5"))).string();
    testing::succeed({"data", "export", file, "--format", format, "--out", there});
    run_json({"data", "import", there, "--preset", format == "well" ? "well" : "piddm", "--out", back});
    EXPECT_TRUE(torch::equal(load_dataset(back).fields, load_dataset(file).fields));
    EXPECT_EQ(run_json({"data", "check", back}).at("pass"), true);
  }
  EXPECT_EQ(testing::piddm({"data", "import", file, "--preset", "fnoo", "--out", back}).code,
            static_cast<int>(ExitCode::usage));
}

TEST(CliJson, DataBenchmark) {
  const auto report = run_json({"bench", "data", "--pde", "heat", "--grid", "16", "--n", "1"});
  EXPECT_NE(report.dump().find("heat"), std::string::npos);
  EXPECT_TRUE(report.contains("machine"));
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
                                "2", "--method", "piddm", "--out", out("solved.npz")});
  EXPECT_EQ(solved.at("nfe"), 5.0);
  EXPECT_LT(solved.at("mse_a").get<double>(), 1e-10);
  const auto judged = run_json({"evaluate", out("samples.npz"), out("student"), "--n", "4", "--reference",
                                shop.at("other.npz"), "--out", out("report.json")});
  EXPECT_EQ(judged.at("samples").at(out("samples.npz")).at("nfe"), 3.0);
  EXPECT_EQ(judged.at("samples").at(out("student")).at("nfe"), 1.0);
  EXPECT_EQ(read_json_file(folder / "report.json", {.name = "piddm-evaluation"}), judged);
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
