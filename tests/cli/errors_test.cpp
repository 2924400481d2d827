// What goes wrong: exit code and one line that names the culprit.

#include <cmath>

#include "piddm/core/config.h"
#include "piddm/data/dataset.h"
#include "piddm/files/npy.h"
#include "tests/cli/workshop.h"
#include "tests/files/faults.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::expect_failure;
using testing::Workshop;

class CliErrors : public ::testing::Test {
 protected:
  std::string out(const std::string& name = "out.npz") const { return (folder_ / name).string(); }

  /// A copy of one of the workshop's files or folders.
  fs::path copy(const std::string& name) const {
    fs::copy(shop_ / name, folder_ / name, fs::copy_options::recursive);
    return folder_ / name;
  }

  const Workshop& shop_ = Workshop::get();
  testing::TempDir folder_;
};

TEST_F(CliErrors, WrongNamesAreAnsweredWithTheNearestRightOne) {
  expect_failure({"trian", "x.toml"}, ExitCode::usage, "did you mean 'train'");
  expect_failure({"data", "mkae", "darcy"}, ExitCode::usage, "did you mean 'make'");
  expect_failure({"data", "make", "darcy", "--gird", "16", "--out", out()}, ExitCode::usage, "did you mean '--grid'");
  expect_failure({"list", "pde"}, ExitCode::usage, "did you mean 'pdes'");
  expect_failure({"data", "make", "dacry", "--out", out()}, ExitCode::usage, "did you mean 'darcy'");
  const auto preset = presets().front().name;
  expect_failure({"train", preset + "x", "--out", out("run")}, ExitCode::usage, "did you mean '" + preset + "'");
  expect_failure({"train", shop_.config(), "--out", out("run"), "--set", "train.stesp=3"}, ExitCode::usage,
                 "did you mean 'steps'");
  expect_failure({"demo", "--out", out("run"), "--set", "experiment.trian.steps=3"}, ExitCode::usage,
                 "did you mean 'train'");
  expect_failure({"generate", shop_.at("student"), "--method", "pidddm", "--out", out()}, ExitCode::usage,
                 "did you mean 'piddm'");
  expect_failure({"solve", shop_.at("student"), "--task", "foward", "--observe", shop_.at("data.npz"), "--out", out()},
                 ExitCode::usage, "did you mean 'forward'");
  EXPECT_FALSE(fs::exists(out("run") + "/config.toml"));
}

TEST_F(CliErrors, WrongValuesAreUsageErrors) {
  expect_failure({"data", "make", "darcy", "--n", "0", "--out", out()}, ExitCode::usage,
                 "--n: must be at least 1, got 0");
  expect_failure({"data", "make", "darcy", "--n", "many", "--out", out()}, ExitCode::usage, "--n");
  expect_failure({"data", "make", "darcy", "--out", out("out.csv")}, ExitCode::usage,
                 "must end in .npz or .safetensors");
  expect_failure({"list", "pdes", "--threads", "9999"}, ExitCode::usage, "--threads 9999");
  expect_failure({"doctor", "--device", "gpu"}, ExitCode::usage, "--device gpu");
  expect_failure({"generate", shop_.at("teacher"), "--refine", "2", "--out", out()}, ExitCode::usage,
                 "only a student can be refined");
  expect_failure({"generate", shop_.at("student"), "--method", "teacher", "--out", out()}, ExitCode::usage,
                 "this model is a student");
  expect_failure({"distill", "--teacher", shop_.at("student"), "--out", out("run")}, ExitCode::usage,
                 "this model is a student");
  expect_failure({"train", shop_.config(), "--out", out("run"), "--set", "train.steps=0", "--quiet"}, ExitCode::usage,
                 "train.steps");
}

TEST_F(CliErrors, ADeviceThatIsNotThereIsAResourceError) {
  if (torch::cuda::is_available()) GTEST_SKIP() << "this machine has a CUDA device";
  expect_failure({"doctor", "--device", "cuda"}, ExitCode::resources, "no CUDA device");
}

TEST_F(CliErrors, MissingFilesAreNamed) {
  expect_failure({"data", "info", out("none.npz")}, ExitCode::data, "none.npz: no such file");
  expect_failure({"generate", out("none"), "--out", out()}, ExitCode::data, "none: no model here");
  expect_failure({"train", out("none.toml"), "--out", out("run")}, ExitCode::data, "none.toml");
  expect_failure({"train", shop_.config(), "--data", out("none.npz"), "--out", out("run")}, ExitCode::data,
                 "none.npz: no such file");
  expect_failure({"evaluate", shop_.at("samples.npz"), "--reference", out("none.npz")}, ExitCode::data,
                 "none.npz: no such file");
  expect_failure({"plot", out("none.npz")}, ExitCode::data, "none.npz: no such file");
}

TEST_F(CliErrors, DamagedDataFilesAreRefused) {
  testing::truncate_file(copy("data.npz"));
  expect_failure({"data", "check", out("data.npz")}, ExitCode::data, "data.npz");
  testing::flip_bit(copy("other.npz"), 0.5);
  expect_failure({"data", "info", out("other.npz")}, ExitCode::data, "other.npz");
  expect_failure({"evaluate", shop_.at("samples.npz"), "--reference", out("other.npz")}, ExitCode::data, "other.npz");
}

TEST_F(CliErrors, DamagedModelsAreRefused) {
  const auto model = copy("student") / "model";
  testing::flip_bit(model / "model.safetensors", 0.9);  // a weight
  expect_failure({"generate", out("student"), "--out", out()}, ExitCode::data, "model.safetensors: damaged");
  testing::flip_bit(model / "model.safetensors", 0.002);  // the header
  expect_failure({"generate", out("student"), "--out", out()}, ExitCode::data, "model.safetensors");
  testing::truncate_file(model / "model.safetensors");
  expect_failure({"generate", out("student"), "--out", out()}, ExitCode::data, "model.safetensors");
  testing::truncate_file(model / "config.json");
  expect_failure({"generate", out("student"), "--out", out()}, ExitCode::data, "config.json");
}

TEST_F(CliErrors, ValuesThatAreNotFiniteAreRefused) {
  auto npz = read_npz(shop_ / "data.npz");
  npz.arrays.at("u")[3][1][2] = NAN;
  write_npz(out("nan.npz"), npz);
  const auto check = testing::piddm({"data", "check", out("nan.npz")});
  EXPECT_EQ(check.code, static_cast<int>(ExitCode::data));
  EXPECT_THAT(check.err,
              ::testing::HasSubstr("nan.npz: the data do not pass: non-finite values (first: channel 'u', sample 3)"));
  EXPECT_THAT(check.out, ::testing::HasSubstr("FAILED"));
  expect_failure({"train", shop_.config(), "--data", out("nan.npz"), "--out", out("run")}, ExitCode::data, "nan.npz");
}

TEST_F(CliErrors, AnotherGridIsRefused) {
  expect_failure({"train", shop_.config(), "--data", shop_.at("data.npz"), "--set", "pde.grid=32", "--out", out("run")},
                 ExitCode::data, "16");
  expect_failure({"solve", shop_.at("student"), "--task", "forward", "--observe", shop_.at("wide.npz"), "--out", out()},
                 ExitCode::data, "(3,32,32), expected (N,16,16)");
  expect_failure({"evaluate", shop_.at("samples.npz"), "--reference", shop_.at("wide.npz")}, ExitCode::data,
                 "(B,2,32,32)");
}

TEST_F(CliErrors, AnotherPdeIsRefused) {
  testing::succeed({"data", "make", "poisson", "--n", "6", "--grid", "16", "--out", out("poisson.npz")});
  expect_failure({"train", shop_.config(), "--data", out("poisson.npz"), "--out", out("run")}, ExitCode::data,
                 "[darcy] these data are of poisson");
  expect_failure(
      {"solve", shop_.at("student"), "--task", "forward", "--observe", out("poisson.npz"), "--out", out("x.npz")},
      ExitCode::data, "poisson.npz is of poisson");
  expect_failure({"evaluate", out("poisson.npz"), "--reference", shop_.at("other.npz")}, ExitCode::data,
                 "poisson.npz is of poisson");
  expect_failure({"evaluate", shop_.at("student"), "--reference", out("poisson.npz")}, ExitCode::data,
                 "student is of darcy");
  expect_failure({"evaluate", out("poisson.npz"), "--model", shop_.at("teacher"), "--reference", out("poisson.npz")},
                 ExitCode::data, "teacher is of darcy");
  expect_failure({"distill", "--teacher", shop_.at("teacher"), "--preset", "poisson-32", "--out", out("run")},
                 ExitCode::usage, "--preset poisson-32: of poisson, but the teacher is of darcy");
}

TEST_F(CliErrors, AnInputIsNotOverwritten) {
  const auto data = copy("data.npz").string(), student = copy("student").string();
  const auto weights = student + "/model/model.safetensors";
  fs::create_symlink(data, out("link.npz"));
  testing::succeed({"data", "make", "darcy", "--n", "4", "--grid", "16", "--shards", "2", "--out", out("set.npz")});
  const auto before = testing::read_text(data), model = testing::read_text(weights);
  const auto index = testing::read_text(out("set.json"));
  for (const auto& file : {data, out("link.npz"), (folder_ / "." / "data.npz").string()}) {
    expect_failure({"solve", student, "--task", "forward", "--observe", data, "--out", file}, ExitCode::usage,
                   "would overwrite the input " + data);
    expect_failure({"data", "import", data, "--out", file}, ExitCode::usage, "would overwrite");
    expect_failure({"data", "import", folder_.path().string(), "--out", file}, ExitCode::usage, "would overwrite");
    expect_failure({"data", "export", data, "--out", file}, ExitCode::usage, "would overwrite");
  }
  expect_failure({"evaluate", shop_.at("samples.npz"), "--reference", out("set.json"), "--out", out("set.json")},
                 ExitCode::usage, "would overwrite");
  expect_failure({"generate", student, "--out", weights}, ExitCode::usage, "would overwrite");
  fs::create_symlink(data, out("picture.png"));
  expect_failure({"plot", data, "--out", out("picture.png")}, ExitCode::usage, "would overwrite");
  EXPECT_EQ(testing::read_text(data), before);
  EXPECT_EQ(testing::read_text(weights), model);
  EXPECT_EQ(testing::read_text(out("set.json")), index);
}

TEST_F(CliErrors, PicturesHaveAKnownFormatAndTheirName) {
  const auto data = shop_.at("data.npz");
  expect_failure({"plot", data, "--format", "gif"}, ExitCode::usage, "unknown format 'gif'");
  expect_failure({"train", "darcy-32", "--format", "jpg", "--out", out("run")}, ExitCode::usage,
                 "unknown format 'jpg'");
  for (const testing::Arguments& command : {testing::Arguments{"plot", data, "--out", out("a.png")},
                                            testing::Arguments{"data", "check", data, "--plot", out("a.png")}}) {
    auto other = command;
    other.insert(other.end(), {"--format", "svg"});
    expect_failure(other, ExitCode::usage, "--format svg: the picture is called " + out("a.png"));
  }
}

TEST_F(CliErrors, FewerCasesThanAskedForAreSaid) {
  const auto run = testing::piddm({"solve", shop_.at("student"), "--task", "forward", "--observe",
                                   shop_.at("other.npz"), "--n", "200", "--quiet", "--out", out()});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.err, ::testing::HasSubstr("--n 200: " + shop_.at("other.npz") + " has only 12 cases"));
}

TEST_F(CliErrors, WhatCannotBeWrittenIsAResourceError) {
  testing::write_text(out("file"), "");
  expect_failure({"data", "make", "darcy", "--n", "1", "--out", out("file/x.npz")}, ExitCode::resources, "file/x.npz");
  expect_failure({"train", shop_.config(), "--out", out("file/run")}, ExitCode::resources, "file/run");
  expect_failure({"demo", "--out", out("file/demo")}, ExitCode::resources, "file/demo");
  EXPECT_EQ(testing::Child({"list", "pdes"}, "/dev/full").wait().code, static_cast<int>(ExitCode::resources));
}

TEST_F(CliErrors, ARunFolderIsNotOverwritten) {
  const auto before = testing::read_text(shop_ / "teacher/model/model.safetensors");
  expect_failure({"train", shop_.config(), "--out", shop_.at("teacher")}, ExitCode::usage, "--resume");
  expect_failure({"distill", "--teacher", shop_.at("teacher"), "--out", shop_.at("student")}, ExitCode::usage,
                 "--resume");
  EXPECT_EQ(testing::read_text(shop_ / "teacher/model/model.safetensors"), before);
}

TEST_F(CliErrors, TrainingThatDivergesIsANumericsError) {
  expect_failure({"train", shop_.config(), "--out", out("run"), "--set", "train.adam.lr=1e30", "--set",
                  "train.schedule=constant", "--quiet"},
                 ExitCode::numerics, "is not finite");
  EXPECT_TRUE(fs::exists(folder_ / "run/checkpoints/latest"));
  EXPECT_FALSE(fs::exists(folder_ / "run/model"));
}

TEST_F(CliErrors, DataOtherThanTheirDigestAreRefusedByEveryReader) {
  const auto file = copy("data.npz").string(), digest = copy("data.npz.sha256").string();
  const auto kept = testing::read_text(digest);
  auto data = load_dataset(file);
  data.fields[7][0][3][4] += 0.5;
  save_dataset(file, data);
  testing::write_text(digest, kept);
  const std::string said = "data.npz: damaged (its SHA-256 is not the one in " + digest + ")";
  expect_failure({"data", "info", file}, ExitCode::data, said);
  expect_failure({"plot", file, "--out", out("x.png")}, ExitCode::data, said);
  expect_failure({"train", shop_.config(), "--data", file, "--out", out("run")}, ExitCode::data, said);
  expect_failure({"evaluate", shop_.at("samples.npz"), "--reference", file}, ExitCode::data, said);
  expect_failure({"data", "import", file, "--out", out()}, ExitCode::data, said);
  expect_failure({"data", "export", file, "--format", "safetensors", "--out", out("x.safetensors")}, ExitCode::data,
                 said);
  expect_failure({"solve", shop_.at("student"), "--task", "forward", "--observe", file, "--out", out()}, ExitCode::data,
                 said);
}

TEST_F(CliErrors, AModelWithAChangedBitIsRefused) {
  auto model = copy("student");
  const auto config = model / "model/config.json";
  auto text = testing::read_text(config);
  const auto at = text.find("\"scale\": ") + 9;
  text[at] = text[at] == '1' ? '3' : '1';
  testing::write_text(config, text);
  expect_failure({"generate", model.string(), "--out", out()}, ExitCode::data, "damaged or edited by hand");
}

TEST_F(CliErrors, AFullDiskStopsTheRunAndRoomContinuesIt) {
  const auto disk = folder_ / "disk";
  const testing::SmallDisk small(disk, 112);  // for two checkpoints and not three
  if (!small.mounted()) GTEST_SKIP() << "mounting a small disk needs privileges that this process does not have";
  const std::vector<std::string> run = {"train",
                                        shop_.config(),
                                        "--data",
                                        shop_.at("data.npz"),
                                        "--out",
                                        (disk / "run").string(),
                                        "--quiet",
                                        "--set",
                                        "train.checkpoint_every=1"};
  expect_failure(run, ExitCode::resources, "No space left on device");
  ASSERT_EQ(::mount(nullptr, disk.c_str(), nullptr, MS_REMOUNT, "size=16m"), 0);
  auto again = run;
  again.emplace_back("--resume");
  EXPECT_EQ(testing::piddm(again).code, 0);
  EXPECT_EQ(testing::read_text(disk / "run/model/model.safetensors"),
            testing::read_text(shop_ / "teacher/model/model.safetensors"));
}

TEST_F(CliErrors, NumbersAreCheckedAsTheyAreWritten) {
  const std::string huge = "99999999999999999999999";
  expect_failure({"data", "make", "darcy", "--n", huge, "--out", out()}, ExitCode::usage, "got " + huge);
  expect_failure({"generate", shop_.at("student"), "--seed", "-1", "--out", out()}, ExitCode::usage,
                 "--seed: must be at least 0, got -1");
  expect_failure({"generate", shop_.at("student"), "--seed", "18446744073709551615", "--out", out()}, ExitCode::usage,
                 "--seed: must be at most");
  expect_failure(
      {"solve", shop_.at("student"), "--task", "forward", "--observe", shop_.at("data.npz"), "--n=-1", "--out", out()},
      ExitCode::usage, "--n: must be at least 0, got -1");
  expect_failure({"evaluate", shop_.at("samples.npz"), "--reference", shop_.at("data.npz"), "--share", "nan"},
                 ExitCode::usage, "--share: must be a number above 0");
  expect_failure({"generate", shop_.at("student"), "--set", "refine.step=nan", "--out", out()}, ExitCode::usage,
                 "refine.step: must be a finite number, got nan");
}

TEST_F(CliErrors, WhatCannotFitIsRefusedBeforeAnyWork) {
  expect_failure({"data", "make", "darcy", "--n", "1000000000000", "--grid", "16", "--out", out()}, ExitCode::resources,
                 "out.npz: writing it takes 3.64 PiB, but ");
  expect_failure({"generate", shop_.at("student"), "--n", "1000000000000", "--out", out()}, ExitCode::resources,
                 "out.npz: writing it takes 3.64 PiB, but ");
  expect_failure({"train", shop_.config(), "--out", out("run"), "--set", "train.batch=1000000000"}, ExitCode::resources,
                 "train.batch = 1000000000: takes about");
  expect_failure({"train", shop_.config(), "--out", out("run"), "--set", "train.batch=1000000000000"}, ExitCode::usage,
                 "train.batch: must be at most 1000000000");
  EXPECT_FALSE(fs::exists(out("run") + "/config.toml"));
}

TEST_F(CliErrors, NamesThatAreTooLongAreRefused) {
  expect_failure({"generate", shop_.at("student"), "--out", out(std::string(240, 'x') + ".npz")}, ExitCode::usage,
                 "a name in it has more than 200 characters");
}

TEST_F(CliErrors, TheLaboratoryChecksItsOptionsInADryRun) {
  expect_failure({"reproduce", "figure-mog", "--dry-run", "--set", "samples=0", "--out", out("run")}, ExitCode::usage,
                 "samples: must be at least 2, got 0");
  expect_failure({"reproduce", "table-downstream", "--dry-run", "--set", "cases=999", "--out", out("run")},
                 ExitCode::usage, "cases: 999 cases of 128 held-out samples; lower it or raise judge.held_out");
}

TEST_F(CliErrors, AnotherGridIsRefusedWithBothShapesAndWhatToDo) {
  save_dataset(out("oblong.npz"), {.channels = {"u", "a"}, .fields = torch::rand({4, 2, 24, 16})});
  expect_failure({"train", shop_.config(), "--data", out("oblong.npz"), "--out", out("run")}, ExitCode::data,
                 "expected (B,2,16,16), got (4,2,24,16): the data have a grid of 24x16; add --set pde.grid=24x16");
  for (const char* wrong : {"64x", "x64", "64x32x16", "8x64", "64x2048", "wide"})
    expect_failure({"data", "make", "darcy", "--grid", wrong, "--out", out("d.npz")}, ExitCode::usage, "--grid");
}

TEST_F(CliErrors, AGridThatIsTooSmallIsNotRecommended) {
  save_dataset(out("small.npz"), {.channels = {"u", "a"}, .fields = torch::rand({4, 2, 7, 7})});
  expect_failure({"train", shop_.config(), "--data", out("small.npz"), "--out", out("run")}, ExitCode::data,
                 "the data have a grid of 7x7; equations here have 16 to 1024");
}

}  // namespace
}  // namespace piddm
