#include "piddm/model/model.h"

#include "piddm/core/input_file.h"
#include "piddm/core/json_text.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"
#include "piddm/model/weights.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kFormatVersion = 1;
constexpr size_t kMaxConfigBytes = 4 << 20;

json config_of(const Model& model) {
  json config = {{"format", "piddm-model"},
                 {"version", kFormatVersion},
                 {"kind", enum_names(model.kind).at(static_cast<size_t>(model.kind))},
                 {"pde", write_fields(model.pde->options())},
                 {"process", model.process->name()},
                 {"network", {{"type", model.network->type()}, {"options", model.network->options_json()}}},
                 {"normalizer", model.normalizer.to_json()}};
  if (model.kind == ModelKind::student) config["heads"] = write_fields(model.heads);
  if (model.latent_grid > 0) config["latent_grid"] = model.latent_grid;
  config["training"] = write_fields(model.training);
  config["provenance"] = model.provenance;
  return config;
}

/// What the provenance of a model from before "training" was written says of it.
Training recalled_training(ModelKind kind, const json& provenance) {
  const auto find = [&](const char* path, const json& otherwise) {
    const json::json_pointer pointer(path);
    return provenance.contains(pointer) ? provenance.at(pointer) : otherwise;
  };
  Training training;
  training.lambda = find("/experiment/distill/loss/lambda", training.lambda);
  training.residual_lambda = find("/experiment/pidm/lambda", training.residual_lambda);
  const double own = find("/seconds", 0), teachers = find("/teacher/seconds", 0);
  const bool from_teacher = provenance.contains("teacher");
  if (own > 0 && (teachers > 0 || !from_teacher)) training.seconds = own + teachers;
  if (kind == ModelKind::student) training.solve = find("/experiment/solve", training.solve);
  return training;
}

Model from_config(const json& config) {
  require<DataError>(config.at("format") == "piddm-model", "not a model of ours");
  require<DataError>(config.at("version") == kFormatVersion, "version {} is not supported (only {})",
                     config.at("version").dump(), kFormatVersion);
  Model model;
  detail::read_value(config.at("kind"), model.kind, "kind");
  PdeOptions pde;
  read_fields(config.at("pde"), pde, "pde");
  model.pde = make_pde(pde);
  model.process = process_registry().at(config.at("process").get<std::string>())();
  model.normalizer = Normalizer::from_json(config.at("normalizer"));
  require<DataError>(model.normalizer.num_channels() == model.pde->num_channels(),
                     "normalizer: {} channels, but {} has {}", model.normalizer.num_channels(), model.pde->name(),
                     model.pde->num_channels());
  model.network =
      make_network(config.at("network").at("type").get<std::string>(), config.at("network").at("options"), 0);
  if (model.kind == ModelKind::student) read_fields(config.at("heads"), model.heads, "heads");
  model.latent_grid = config.value("latent_grid", int64_t{0});
  model.provenance = config.value("provenance", json::object());
  if (const auto training = config.find("training"); training != config.end())
    read_fields(*training, model.training, "training");
  else
    model.training = recalled_training(model.kind, model.provenance);
  return model;
}

fs::path model_folder(const fs::path& path) {
  for (const auto& folder : {path, path / "model"}) {
    recover_folder(folder);
    if (fs::exists(folder / "config.json")) return folder;
  }
  throw DataError("{}: no model here (config.json is missing); is the training run finished?", path.string());
}

}  // namespace

Tensor Model::latents(uint64_t seed, Stream stream, int64_t first, int64_t count) const {
  const int64_t n = latent_grid > 0 ? latent_grid : pde->grid();
  return normal(seed, stream, first, count, {pde->num_channels(), n, n}, torch::kFloat32, device());
}

torch::Device Model::device() const { return network->parameters().front().device(); }

int64_t Model::bytes_per_sample(bool gradient) const {
  return network->bytes_per_sample(pde->num_channels(), pde->grid(), gradient);
}

void save_model(const fs::path& folder, const Model& model) {
  AtomicFolder out(folder);
  write_safetensors(out.path() / "model.safetensors", weights_of(*model.network), {{"format", "piddm-model"}});
  auto config = config_of(model);
  config["weights_sha256"] = sha256_file(out.path() / "model.safetensors");
  write_file_atomically(out.path() / "config.json", config.dump(2) + "\n");
  out.commit();
}

Model load_model(const fs::path& path, torch::Device device) {
  const auto folder = model_folder(path);
  const auto config = parse_json(read_file(folder / "config.json", kMaxConfigBytes), (folder / "config.json").string());
  Model model;
  try {
    model = from_config(config);
  } catch (const std::exception& error) {
    throw DataError("{}: {}", (folder / "config.json").string(), error.what());
  }
  const auto weights = folder / "model.safetensors";
  load_weights(*model.network, read_safetensors(weights).tensors, weights.string());
  require<DataError>(!config.contains("weights_sha256") || config["weights_sha256"] == sha256_file(weights),
                     "{}: damaged (its SHA-256 differs from the one in config.json)", weights.string());
  model.network->to(device);
  return model;
}

Model clone_model(const Model& model) {
  Model copy = model;
  copy.network = make_network(model.network->type(), model.network->options_json(), 0);
  load_weights(*copy.network, weights_of(*model.network), "clone");
  copy.network->to(model.device());
  return copy;
}

}  // namespace piddm
