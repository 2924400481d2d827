// Files that earlier releases wrote (tests/golden/make_release_files.sh), read and continued by this one.

#include "piddm/data/dataset.h"
#include "piddm/files/json_file.h"
#include "piddm/files/safetensors.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::succeed;

class FilesOfRelease : public ::testing::TestWithParam<std::string> {
 protected:
  FilesOfRelease() {
    fs::copy(testing::golden(GetParam()), folder_ / "files", fs::copy_options::recursive);
    fs::permissions(folder_ / "files", fs::perms::owner_all);
  }
  std::string at(const std::string& name) const { return (folder_ / "files" / name).string(); }
  std::string out(const std::string& name) const { return (folder_ / name).string(); }

 private:
  testing::TempDir folder_;
};

TEST_P(FilesOfRelease, DataAreRead) {
  const auto npz = load_dataset(at("data.npz")), safetensors = load_dataset(at("data.safetensors")),
             shards = load_dataset(at("shards.json"));
  EXPECT_EQ(npz.size(), 4);
  EXPECT_EQ(npz.description.pde, "darcy");
  EXPECT_TRUE(safetensors.fields.equal(npz.fields.narrow(0, 0, 2)));
  EXPECT_TRUE(shards.fields.equal(npz.fields.narrow(0, 0, 3)));
  succeed({"data", "check", at("data.npz")});
  const auto before = fs::last_write_time(at("shards-00001-of-00002.npz"));
  succeed(
      {"data", "make", "darcy", "--n", "3", "--grid", "16", "--shards", "2", "--resume", "--out", at("shards.npz")});
  EXPECT_EQ(fs::last_write_time(at("shards-00001-of-00002.npz")), before);  // kept
  EXPECT_TRUE(load_dataset(at("shards.json")).fields.equal(shards.fields));
}

TEST_P(FilesOfRelease, ModelsGiveTheSameSamples) {
  succeed({"generate", at("student"), "--n", "2", "--threads", "1", "--out", out("samples.npz")});
  const auto got = load_dataset(out("samples.npz")).fields, expected = load_dataset(at("samples.npz")).fields;
  EXPECT_LT(testing::relative_error(got, expected), 1e-4);
}

TEST_P(FilesOfRelease, ATeachersRunGoesOn) {
  const auto resumed =
      testing::piddm({"train", "--out", at("teacher"), "--data", at("data.npz"), "--resume", "--set", "train.steps=6"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(fs::exists(at("teacher/checkpoints/step-6")));
  auto other = load_dataset(at("data.npz"));
  other.fields[3].mul_(2);
  save_dataset(out("other.npz"), other);
  testing::expect_failure(
      {"train", "--out", at("teacher"), "--data", out("other.npz"), "--resume", "--set", "train.steps=8"},
      ExitCode::usage, "was begun with another data");
}

TEST_P(FilesOfRelease, AStudentsRunGoesOnWithItsPairs) {
  const auto before = fs::last_write_time(at("pairs/pairs-0.safetensors"));
  const auto resumed = testing::piddm({"distill", "--teacher", at("teacher"), "--pairs", at("pairs"), "--out",
                                       at("student"), "--resume", "--set", "distill.train.steps=6"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(fs::exists(at("student/checkpoints/step-6")));
  EXPECT_EQ(fs::last_write_time(at("pairs/pairs-0.safetensors")), before);  // not made again
}

TEST_P(FilesOfRelease, ReportsAreMerged) {
  succeed({"reproduce", "table-diversity", "--scale", "smoke", "--merge", at("table/report.json"), "--out", out("m")});
  const auto merged = json::parse(testing::read_text(out("m/table-diversity-smoke/report.json")));
  const auto before = json::parse(testing::read_text(at("table/report.json")));
  ASSERT_EQ(merged.at("rows").size(), before.at("rows").size());
  EXPECT_EQ(merged.at("rows")[0].at("metrics").at("pde_error"), before.at("rows")[0].at("metrics").at("pde_error"));
}

TEST_P(FilesOfRelease, ResultsOfAStepAreRead) {
  EXPECT_TRUE(read_json_file(at("step/metrics.json"), {.name = "piddm-result"}).contains("pde_error"));
  EXPECT_TRUE(read_json_file(at("step/step.json"), {.name = "piddm-step"}).contains("seconds"));
  EXPECT_TRUE(read_json_file(at("evaluation.json"), {.name = "piddm-evaluation"}).contains("samples"));
  EXPECT_EQ(read_safetensors(at("step/kept.safetensors")).tensors.at("x").dim(), 4);
}

INSTANTIATE_TEST_SUITE_P(Golden, FilesOfRelease, ::testing::Values("0.2.0"), [](const auto&) { return "v0_2_0"; });

}  // namespace
}  // namespace piddm
