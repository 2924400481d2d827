#include "piddm/eval/poseidon/poseidon.h"

#include "piddm/model/model.h"
#include "tests/eval/poseidon/golden.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

/// A copy of the tiny checkpoint in one file, to be spoiled.
class PoseidonFolder : public ::testing::Test {
 protected:
  PoseidonFolder() {
    const auto source = testing::golden("scot-tiny");
    config_ = json::parse(testing::read_text(source / "config.json"));
    for (const char* part : {"1", "2", "3"})
      weights_.merge(read_safetensors(source / (std::string("model-0000") + part + "-of-00003.safetensors")).tensors);
    write();
  }

  void write() {
    testing::write_text(folder_ / "config.json", config_.dump());
    write_safetensors(folder_ / "model.safetensors", weights_);
  }

  void expect_refused(const std::string& text) { EXPECT_ERROR(load_poseidon(folder_.path()), ExitCode::data, text); }

  testing::TempDir folder_;
  json config_;
  TensorMap weights_;
};

TEST_F(PoseidonFolder, OneFileAndShardsGiveTheSameNetwork) {
  const auto& x = testing::scot_golden("x64");
  EXPECT_TRUE(
      torch::equal(load_poseidon(folder_.path()).features(x), load_poseidon(testing::golden("scot-tiny")).features(x)));
}

TEST_F(PoseidonFolder, OtherTensorsAndUnknownFieldsAreIgnored) {
  const auto expected = load_poseidon(folder_.path()).features(testing::scot_golden("x64"));
  weights_["patch_recovery.mixup.weight"] = torch::ones({4, 4, 5, 5});
  config_["something_new"] = {1, 2};
  config_.erase("layer_norm_eps");  // the default is the file's value
  write();
  EXPECT_TRUE(torch::equal(load_poseidon(folder_.path()).features(testing::scot_golden("x64")), expected));
}

TEST_F(PoseidonFolder, AWrongFolderIsNamed) {
  EXPECT_ERROR(load_poseidon(folder_ / "none"), ExitCode::data, "none: no such folder");
  fs::remove(folder_ / "model.safetensors");
  expect_refused("model.safetensors is missing");
  testing::write_text(folder_ / "pytorch_model.bin", "x");
  expect_refused("pytorch_model.bin cannot be read");
  fs::remove(folder_ / "config.json");
  expect_refused("config.json is missing");
  save_model(folder_ / "ours", testing::tiny_teacher());
  EXPECT_ERROR(load_poseidon(folder_ / "ours"), ExitCode::data, "a model of piddm, not a Poseidon checkpoint");
}

TEST_F(PoseidonFolder, AnotherNetworkIsNamed) {
  config_["model_type"] = "bert";
  write();
  expect_refused("model_type \"bert\"");
  config_ = {{"hidden_size", 768}};
  write();
  expect_refused("embed_dim or depths is missing");
}

TEST_F(PoseidonFolder, ImpossibleFieldsAreNamed) {
  const auto with = [&](const char* key, const json& value, const std::string& text) {
    const auto before = config_;
    config_[key] = value;
    write();
    expect_refused(text);
    config_ = before;
  };
  with("embed_dim", "six", "embed_dim");
  with("embed_dim", -6, "embed_dim = -6");
  with("num_heads", {2, 2, 4}, "4 depths and 3 num_heads");
  with("num_heads", {4, 2, 4, 8}, "4 heads do not divide the width 6");
  with("hidden_act", "relu", "hidden_act 'relu'");
  with("window_size", 1000000, "window_size");
}

TEST_F(PoseidonFolder, WeightsThatDoNotFitAreNamed) {
  const std::string query = "encoder.layers.1.blocks.0.attention.self.query.weight";
  const auto value = weights_.at(query);
  weights_[query] = value.narrow(0, 0, 6).clone();
  write();
  expect_refused("tensor '" + query + "' has shape (6,12), expected (12,12)");
  weights_[query] = value.clone().fill_(NAN);
  write();
  expect_refused("not finite");
  weights_.erase(query);
  write();
  expect_refused("tensor '" + query + "' is missing");
  fs::resize_file(folder_ / "model.safetensors", 100000);
  expect_refused("model.safetensors");
}

TEST_F(PoseidonFolder, AnIndexCannotPointElsewhere) {
  fs::remove(folder_ / "model.safetensors");
  testing::write_text(folder_ / "model.safetensors.index.json", R"({"weight_map": {"a": "../other.safetensors"}})");
  expect_refused("'a' is not in a file beside the index");
  testing::write_text(folder_ / "model.safetensors.index.json", R"({"weights": {}})");
  expect_refused("has no weight_map");
}

}  // namespace
}  // namespace piddm
