// Damaged versions of every other kind of file that the program reads; arrays are in tests/data/formats.
// What carries a digest is stored without it, as an earlier version would have, or sealed again after the damage: else
// only the digest would be looked at.

#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"
#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "piddm/data/shards.h"
#include "piddm/experiment/run_origin.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"
#include "piddm/model/weights.h"
#include "piddm/pde/constraint.h"
#include "piddm/recipe/result.h"
#include "piddm/solve/task/observation_file.h"
#include "piddm/solve/task/sensor_list.h"
#include "piddm/tables/options.h"
#include "piddm/tables/report_files.h"
#include "tests/mutation/survival.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Content;
using testing::expect_survival;
using testing::read_text;
using testing::TempDir;
using testing::write_text;

/// The document as before version 2: no format, no version, no digest.
std::string unsealed(const std::string& text) {
  auto document = json::parse(text);
  for (const char* key : {"format", "version", "sha256", "weights_sha256"}) document.erase(key);
  return document.dump(1) + "\n";
}

TEST(Mutations, ModelConfig) {
  const TempDir dir;
  save_model(dir / "m", testing::tiny_student());
  const auto file = dir / "m" / "config.json";
  expect_survival({"model config.json", 0.05, {unsealed(read_text(file))}, Content::json, [&](const std::string& text) {
                     write_text(file, text);
                     load_model(dir / "m");
                   }});
}

TEST(Mutations, ModelWeights) {
  const TempDir dir;
  save_model(dir / "m", testing::tiny_teacher());
  write_text(dir / "m" / "config.json", unsealed(read_text(dir / "m" / "config.json")));
  const auto file = dir / "m" / "model.safetensors";
  write_safetensors(file, weights_of(*testing::tiny_teacher().network));
  expect_survival({"model.safetensors", 0.05, {read_text(file)}, Content::bytes, [&](const std::string& text) {
                     write_text(file, text);
                     load_model(dir / "m");
                   }});
}

class CheckpointMutations : public ::testing::Test {
 protected:
  CheckpointMutations() {
    store_.save({7, {{"model", {{"w", torch::ones({3, 4})}}}}, {{"loss", 0.5}, {"order", {1, 2, 3}}}});
    folder_ = dir_ / "c" / "step-7";
  }

  /// Makes the digests right again.
  void seal() const {
    std::string manifest;
    for (const char* name : {"model.safetensors", "state.json"})
      manifest += sha256_file(folder_ / name) + "  " + name + "\n";
    write_text(folder_ / "manifest.sha256", manifest);
  }

  void damage(const std::string& name, double share, Content content, const std::string& seed, bool sealed) {
    expect_survival({"checkpoint " + name, share, {seed}, content, [&](const std::string& text) {
                       write_text(folder_ / name, text);
                       if (sealed) seal();
                       store_.load(7);
                     }});
  }

  TempDir dir_;
  CheckpointStore store_{dir_ / "c", 0};
  fs::path folder_;
};

TEST_F(CheckpointMutations, State) {
  damage("state.json", 0.03, Content::json, unsealed(read_text(folder_ / "state.json")), true);
}

TEST_F(CheckpointMutations, Part) {
  write_safetensors(folder_ / "model.safetensors", {{"w", torch::ones({3, 4})}});
  damage("model.safetensors", 0.02, Content::bytes, read_text(folder_ / "model.safetensors"), true);
}

TEST_F(CheckpointMutations, Manifest) {
  damage("manifest.sha256", 0.02, Content::lines, read_text(folder_ / "manifest.sha256"), false);
}

TEST_F(CheckpointMutations, Latest) {
  expect_survival({"checkpoint latest", 0.01, {"step-7\n"}, Content::lines, [&](const std::string& text) {
                     write_text(dir_ / "c" / "latest", text);
                     EXPECT_EQ(store_.latest(), 7);
                     if (text != "step-7\n") throw DataError("damaged, and the folders told");
                   }});
}

TEST(Mutations, Config) {
  const TempDir dir;
  const auto file = dir / "c.toml";
  std::vector<std::string> seeds = {to_toml(write_fields(Experiment()))};
  for (const auto& preset : presets())
    if (seeds.size() < 4) seeds.push_back(to_toml(load_config(preset.name)));
  expect_survival({"config.toml", 0.09, seeds, Content::lines, [&](const std::string& text) {
                     write_text(file, text);
                     parse_experiment(load_config(file.string()));
                   }});
}

TEST(Mutations, RunFolder) {
  const TempDir dir;
  const RunOrigin origin{.kind = "teacher", .data = std::string(64, 'a'), .teacher = ""};
  RunFolder::create(dir / "r", write_fields(Experiment()), write_fields(origin));
  expect_survival({"origin.json",
                   0.02,
                   {unsealed(read_text(dir / "r" / "origin.json"))},
                   Content::json,
                   [&](const std::string& text) {
                     write_text(dir / "r" / "origin.json", text);
                     RunOrigin read;
                     read_fields(RunFolder::read_origin(dir / "r"), read, "origin.json");
                   }});
  const std::string rows = "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":0.25,\"rate\":1e-3}\n{\"step\":3}\n";
  expect_survival({"metrics.jsonl", 0.03, {rows}, Content::lines, [&](const std::string& text) {
                     write_text(dir / "r" / "metrics.jsonl", text);
                     RunFolder::read_metrics(dir / "r");
                   }});
}

TEST(Mutations, Report) {
  const TempDir dir;
  Report report{.experiment = "table-generative", .summary = "s", .reading = "r", .columns = {"pde_error"}};
  Row row{.labels = {.pde = "darcy", .task = "generate", .method = "eci"}, .count = 4};
  row.result = result_from({{"pde_error", 0.5}, {"mmse", 0.25}});
  report.rows = {row, row};
  report.options = write_fields(table_options(Scale::smoke));
  report.floors["darcy"] = row.result.scores;
  write_report(report, dir.path());
  expect_survival(
      {"report.json", 0.03, {unsealed(read_text(dir / "report.json"))}, Content::json, [&](const std::string& text) {
         write_text(dir / "report.json", text);
         if (const auto read = read_report(dir.path())) format_report(*read);
       }});
}

TEST(Mutations, Sensors) {
  const TempDir dir;
  const auto file = dir / "s.csv";
  const auto pde = testing::tiny_pde();
  const std::vector<std::string> seeds = {
      "channel,i,j,value,sigma,sample\nu,0,1,0.5,0.1,0\na,3,4,7,,0\nu,15,15,-1e-3,0,1\n",
      "# places\nchannel,x,y,value\nu,0.25,0.5,1\na,0.1,0.9,3\n"};
  expect_survival({"sensor list", 0.05, seeds, Content::lines, [&](const std::string& text) {
                     write_text(file, text);
                     read_sensor_csv(file, *pde);
                   }});
}

TEST(Mutations, Observations) {
  const TempDir dir;
  const auto pde = testing::tiny_pde();
  write_npz(dir / "fields", {{{"u", torch::rand({2, 16, 16})}, {"a", torch::rand({2, 16, 16})}}, {}});
  const auto column = [](std::vector<double> values) { return torch::tensor(values, torch::kFloat64); };
  write_npz(dir / "sensors", {{{"channel", column({0, 1, 0})},
                               {"i", column({0, 3, 15})},
                               {"j", column({1, 4, 15})},
                               {"value", column({0.5, 7, 1})},
                               {"sample", column({0, 0, 1})}},
                              {}});
  expect_survival({"observations",
                   0.03,
                   {read_text(dir / "fields"), read_text(dir / "sensors")},
                   Content::bytes,
                   [&](const std::string& text) {
                     write_text(dir / "o.npz", text);
                     read_observation(dir / "o.npz", Task::reconstruct, *pde, 1);
                   }});
}

/// Numbers that fit no index, behind a right checksum.
TEST(Mutations, SensorArrays) {
  const auto pde = testing::tiny_pde();
  for (const double bad : {double{NAN}, double{INFINITY}, -1.0, 1e300, 99999.0, 0.5})
    for (const char* name : {"channel", "i", "j", "value", "sigma", "sample"}) {
      TensorMap arrays;
      for (const char* column : {"channel", "i", "j", "value", "sigma", "sample"})
        arrays[column] = torch::zeros(1, torch::kFloat64);
      arrays[name].fill_(bad);
      try {
        sensors_from_arrays(arrays, "f", *pde);
        EXPECT_TRUE(std::string(name) == "value" || (std::string(name) == "sigma" && bad > 0)) << name << " " << bad;
      } catch (const DataError&) {
      }
    }
}

TEST(Mutations, Constraint) {
  const auto pde = make_pde({"burgers", 16});
  const std::vector<std::string> seeds = {
      "kind = \"boundary\"\naxis = \"x\"\nside = \"last\"\nvalue = 0.5\n",
      "kind = \"chain\"\n[[members]]\nkind = \"initial\"\nvalue = 1\n[[members]]\nkind = \"conservation\"\nvalue = 2\n",
      "kind = \"dirichlet\"\npoints = [[0, 1], [2, 3]]\nvalue = [1, 2]\n",
      "kind = \"dirichlet\"\nbox = [0, 4, 2, 8]\nvalue = 3\n",
      "kind = \"slice\"\naxis = \"t\"\nindex = -1\nvalue = 0\n"};
  expect_survival({"constraint", 0.05, seeds, Content::lines,
                   [&](const std::string& text) { make_constraint(parse_toml(text, "c.toml"), *pde); }});
}

TEST(Mutations, DataSets) {
  const TempDir dir;
  const auto data = make_dataset(*testing::tiny_pde(), 1, 0, 3);
  for (const char* name : {"x.npz", "x.safetensors"}) {
    save_dataset(dir / name, data);
    fs::remove(digest_path(dir / name));
    expect_survival(
        {std::string("data ") + name, 0.04, {read_text(dir / name)}, Content::bytes, [&](const std::string& text) {
           write_text(dir / name, text);
           load_dataset(dir / name);
         }});
  }
  const MakeOptions options{.range = {.seed = 1, .first = 0, .n = 4}, .shards = 2};
  const auto index = make_data_files(dir / "s.npz", *testing::tiny_pde(), options).path;
  fs::remove(digest_path(index));
  expect_survival({"shard index", 0.02, {unsealed(read_text(index))}, Content::json, [&](const std::string& text) {
                     write_text(index, text);
                     load_dataset(index);
                   }});
}

}  // namespace
}  // namespace piddm
