#include "piddm/model/model.h"

#include <atomic>
#include <thread>

#include "piddm/files/safetensors.h"
#include "piddm/model/student.h"
#include "piddm/model/weights.h"
#include "tests/files/flips.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::read_text;
using testing::TempDir;
using testing::tiny_student;
using testing::tiny_teacher;
using testing::write_text;

void expect_same_weights(const Model& a, const Model& b) {
  const auto expected = weights_of(*b.network), got = weights_of(*a.network);
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, value] : expected) EXPECT_TRUE(value.equal(got.at(name))) << name;
}

TEST(Model, LatentsAreTheStreamsNormals) {
  const auto model = tiny_teacher();
  const auto e = model.latents(9, Stream::pairs, 5, 3);
  EXPECT_TRUE(e.equal(normal(9, Stream::pairs, 5, 3, {2, 16, 16})));
  EXPECT_TRUE(model.device().is_cpu());
}

TEST(Model, CloneHasWeightsOfItsOwn) {
  const auto model = tiny_student();
  const auto copy = clone_model(model);
  expect_same_weights(copy, model);
  EXPECT_EQ(copy.kind, ModelKind::student);
  EXPECT_TRUE(copy.heads.smooth);
  {
    const torch::NoGradGuard no_grad;
    for (auto& p : copy.network->parameters()) p.add_(1);
  }
  for (const auto& [name, value] : weights_of(*model.network))
    EXPECT_FALSE(value.equal(weights_of(*copy.network).at(name))) << name;
  (*copy.network)(torch::zeros({2, 2, 16, 16}), torch::ones({1}));
  EXPECT_EQ(model.network->work().forward, 0);
}

TEST(ModelFile, TeacherRoundTripBitForBit) {
  const TempDir folder;
  auto model = tiny_teacher();
  model.provenance = {{"seed", 3}, {"options", {{"steps", 100}}}};
  save_model(folder / "m", model);
  const auto loaded = load_model(folder / "m");
  expect_same_weights(loaded, model);
  EXPECT_EQ(loaded.kind, ModelKind::teacher);
  EXPECT_EQ(loaded.provenance, model.provenance);
  EXPECT_EQ(loaded.process->name(), "linear");
  EXPECT_EQ(write_fields(loaded.pde->options()), write_fields(model.pde->options()));
  EXPECT_EQ(loaded.normalizer.to_json(), model.normalizer.to_json());
  EXPECT_EQ(loaded.network->options_json(), model.network->options_json());
  const auto e = model.latents(1, Stream::latents, 0, 2), t = torch::full({1}, 0.5);
  EXPECT_TRUE((*loaded.network)(e, t).equal((*model.network)(e, t)));
}

TEST(ModelFile, StudentKeepsItsHeads) {
  const TempDir folder;
  HeadOptions heads;
  heads.smooth = heads.bounded = true;
  heads.smooth_modes = 7.25;
  heads.bounded_gain = 1.0 / 3;
  heads.corrector = 3;
  const auto model = tiny_student(heads);
  save_model(folder / "m", model);
  const auto loaded = load_model(folder / "m");
  EXPECT_EQ(loaded.kind, ModelKind::student);
  EXPECT_EQ(write_fields(loaded.heads), write_fields(heads));
  const auto e = model.latents(1, Stream::latents, 0, 2);
  EXPECT_TRUE(Student(loaded)(e).equal(Student(model)(e)));
}

TEST(ModelFile, KeepsHowItWasTrained) {
  const TempDir folder;
  auto model = tiny_student();
  model.training = {.lambda = 0.25, .residual_lambda = 3, .seconds = 17.5, .solve = {{"lambda", 2.0}}};
  save_model(folder / "m", model);
  EXPECT_EQ(write_fields(load_model(folder / "m").training), write_fields(model.training));
}

/// The model of this provenance as it was written before there was "training".
Training recalled(Model model, const json& provenance) {
  const TempDir folder;
  model.provenance = provenance;
  save_model(folder / "m", model);
  testing::edit_sealed(folder / "m" / "config.json", [](json& config) { config.erase("training"); });
  return load_model(folder / "m").training;
}

TEST(ModelFile, RecallsFromItsProvenanceHowAnOldModelWasTrained) {
  const json experiment = {
      {"distill", {{"loss", {{"lambda", 0.5}}}}}, {"pidm", {{"lambda", 2.0}}}, {"solve", {{"lambda", 3.0}}}};
  const auto student =
      recalled(tiny_student(), {{"experiment", experiment}, {"seconds", 20.0}, {"teacher", {{"seconds", 100.0}}}});
  EXPECT_EQ(student.lambda, 0.5);
  EXPECT_EQ(student.residual_lambda, 2);
  EXPECT_EQ(student.seconds, 120);
  EXPECT_EQ(student.solve, (json{{"lambda", 3.0}}));
  const auto teacher = recalled(tiny_teacher(), {{"experiment", experiment}, {"seconds", 20.0}});
  EXPECT_EQ(teacher.seconds, 20);
  EXPECT_EQ(teacher.solve, json::object());
  const auto unknown = recalled(tiny_student(), json::object());
  EXPECT_EQ(write_fields(unknown), write_fields(Training{}));
  EXPECT_EQ(recalled(tiny_student(), {{"seconds", 20.0}, {"teacher", json::object()}}).seconds, 0);
}

TEST(ModelFile, SavingWhatWasLoadedGivesTheSameBytes) {
  const TempDir folder;
  save_model(folder / "a", tiny_student());
  save_model(folder / "b", load_model(folder / "a"));
  for (const std::string name : {"config.json", "model.safetensors"})
    EXPECT_EQ(read_text(folder / "a" / name), read_text(folder / "b" / name)) << name;
}

TEST(ModelFile, SavingReplacesTheOldModel) {
  const TempDir folder;
  save_model(folder / "m", tiny_teacher(1));
  save_model(folder / "m", tiny_teacher(2));
  expect_same_weights(load_model(folder / "m"), tiny_teacher(2));
}

TEST(ModelFile, NoBitChangesUnnoticed) {
  const TempDir folder;
  save_model(folder / "m", tiny_student());
  const auto content = [&] {
    const auto model = load_model(folder / "m");
    save_model(folder / "again", model);
    return read_text(folder / "again/config.json") + read_text(folder / "again/model.safetensors");
  };
  testing::expect_no_silent_damage(folder / "m/config.json", content, 600);
  testing::expect_no_silent_damage(folder / "m/model.safetensors", content, 200);
}

TEST(ModelFile, OneThatIsReplacedMeanwhileIsTheOldOrTheNewOne) {
  const TempDir folder;
  const auto first = tiny_teacher(1), second = tiny_teacher(2);
  const auto expected = {weights_digest(*first.network), weights_digest(*second.network)};
  save_model(folder / "m", first);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; !done; ++i) save_model(folder / "m", i % 2 == 0 ? second : first);
  });
  for (int i = 0; i < 200; ++i) {
    try {
      EXPECT_THAT(expected, ::testing::Contains(weights_digest(*load_model(folder / "m").network)));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  done = true;
  writer.join();
}

TEST(ModelFile, RunFolderIsTakenToo) {
  const TempDir run;
  save_model(run / "model", tiny_teacher());
  expect_same_weights(load_model(run.path()), tiny_teacher());
}

TEST(ModelFile, FolderWithoutAModelIsRefused) {
  const TempDir folder;
  EXPECT_ERROR(load_model(folder.path()), ExitCode::data, folder.path().string() + ": no model here");
  EXPECT_ERROR(load_model(folder / "absent"), ExitCode::data, (folder / "absent").string() + ": no model here");
}

/// What must be refused: a change of a good model folder, and what the message must contain.
struct Damage {
  std::string name;
  std::function<void(const fs::path& folder)> apply;
  std::string message;
};

class DamagedModel : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedModel, IsRefused) {
  const TempDir folder;
  save_model(folder / "m", tiny_student());
  GetParam().apply(folder / "m");
  EXPECT_ERROR(load_model(folder / "m"), ExitCode::data, GetParam().message);
  EXPECT_ERROR(load_model(folder / "m"), ExitCode::data, (folder / "m").string());
}

Damage tensors(const std::string& name, const std::function<void(TensorMap&)>& change, const std::string& message) {
  const auto apply = [change](const fs::path& folder) {
    auto weights = read_safetensors(folder / "model.safetensors").tensors;
    change(weights);
    write_safetensors(folder / "model.safetensors", weights);
  };
  return {name, apply, "model.safetensors: " + message};
}

INSTANTIATE_TEST_SUITE_P(
    Weights, DamagedModel,
    ::testing::Values(
        tensors(
            "MissingTensor", [](TensorMap& w) { w.erase("lift2_bias"); }, "tensor 'lift2_bias' is missing"),
        tensors(
            "ExtraTensor", [](TensorMap& w) { w["more"] = torch::zeros({1}); }, "tensor 'more' does not belong"),
        tensors(
            "WrongShape", [](TensorMap& w) { w["lift2_bias"] = torch::zeros({5}); },
            "tensor 'lift2_bias' has shape (5), expected (4)"),
        tensors(
            "Nan", [](TensorMap& w) { w.at("lift2_bias").fill_(NAN); }, "tensor 'lift2_bias' has non-finite values"),
        tensors(
            "OtherWeights", [](TensorMap& w) { w.at("lift2_bias").fill_(1); }, "damaged (its SHA-256 differs"),
        Damage{"TruncatedFile",
               [](const fs::path& folder) {
                 const auto file = folder / "model.safetensors";
                 fs::resize_file(file, fs::file_size(file) - 1);
               },
               "model.safetensors: "},
        Damage{"EmptyFile", [](const fs::path& folder) { write_text(folder / "model.safetensors", ""); },
               "model.safetensors: "},
        Damage{"MissingFile", [](const fs::path& folder) { fs::remove(folder / "model.safetensors"); },
               "model.safetensors: "}),
    [](const auto& test) { return test.param.name; });

Damage config(const std::string& name, const std::function<void(json&)>& change, const std::string& message) {
  const auto apply = [change](const fs::path& folder) { testing::edit_sealed(folder / "config.json", change); };
  return {name, apply, message};
}

Damage text(const std::string& name, const std::string& content, const std::string& message) {
  return {name, [content](const fs::path& folder) { write_text(folder / "config.json", content); }, message};
}

INSTANTIATE_TEST_SUITE_P(
    Config, DamagedModel,
    ::testing::Values(
        text("NotJson", "{\"format\": ", "config.json: not valid JSON"),
        text("Empty", "", "config.json: not valid JSON"), text("Array", "[1, 2]", "config.json: "),
        text("NothingInIt", "{}", "config.json: not the config of a model: key 'kind' not found"),
        text("DuplicateKey", R"({"format": "piddm-model", "format": "piddm-model"})", "format"),
        config(
            "OtherFormat", [](json& j) { j["format"] = "other"; },
            "config.json: its format is \"other\", not piddm-model"),
        config(
            "LaterVersion", [](json& j) { j["version"] = 3; },
            "config.json: written by a later version of piddm (piddm-model 3, this one reads up to 2)"),
        config(
            "NoVersion", [](json& j) { j.erase("version"); }, "without a version"),
        config(
            "UnknownKind", [](json& j) { j["kind"] = "studnet"; },
            "kind: unknown value 'studnet'; did you mean 'student'?"),
        config(
            "UnknownPde", [](json& j) { j["pde"]["name"] = "darci"; }, "unknown PDE 'darci'; did you mean 'darcy'?"),
        config(
            "UnknownPdeKey", [](json& j) { j["pde"]["gird"] = 3; },
            "unknown key of [pde] 'gird'; did you mean 'grid'?"),
        config(
            "GridOutOfRange", [](json& j) { j["pde"]["grid"] = -4; },
            "pde.grid: must be at least 16 and at most 1024, got -4"),
        config(
            "UnknownProcess", [](json& j) { j["process"] = "liner"; },
            "unknown process 'liner'; did you mean 'linear'?"),
        config(
            "ProcessNotAName", [](json& j) { j["process"] = 3; }, "config.json: "),
        config(
            "UnknownNetwork", [](json& j) { j["network"]["type"] = "fnoo"; },
            "unknown model 'fnoo'; did you mean 'fno'?"),
        config(
            "NoNetwork", [](json& j) { j.erase("network"); }, "'network'"),
        config(
            "UnknownNetworkOption", [](json& j) { j["network"]["options"]["widht"] = 4; }, "did you mean 'width'?"),
        config(
            "OtherWidth", [](json& j) { j["network"]["options"]["width"] = 3; }, "model.safetensors: tensor '"),
        config(
            "LargerThanItsWeights", [](json& j) { j["network"]["options"]["width"] = 16; },
            "config.json: model: its sizes make a network of more than"),
        config(
            "WithoutEnd", [](json& j) { j["network"]["options"]["layers"] = 1000000000; },
            "config.json: model.layers: must be at least 1 and at most 1024"),
        config(
            "ManyLayers", [](json& j) { j["network"]["options"]["layers"] = 1024; },
            "config.json: model: its sizes make a network of more than"),
        config(
            "VeryWide", [](json& j) { j["network"]["options"]["width"] = 65536; },
            "config.json: model: its sizes make a network of more than"),
        config(
            "LatentGrid", [](json& j) { j["latent_grid"] = 1000000; }, "config.json: latent_grid: must be"),
        config(
            "NoHeads", [](json& j) { j.erase("heads"); }, "'heads'"),
        config(
            "UnknownHead", [](json& j) { j["heads"]["smoth"] = true; },
            "unknown key of [heads] 'smoth'; did you mean 'smooth'?"),
        config(
            "NoNormalizer", [](json& j) { j.erase("normalizer"); }, "'normalizer'"),
        config(
            "ChannelsOfNormalizer", [](json& j) { j["normalizer"].erase(1); },
            "normalizer: 1 channels, but darcy has 2"),
        config(
            "ScaleOfNormalizer", [](json& j) { j["normalizer"][0]["scale"] = 0; },
            "channel 'u': scale must be positive")),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace piddm
