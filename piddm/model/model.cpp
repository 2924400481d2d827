#include "piddm/model/model.h"

#include "piddm/core/available_memory.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/files/pinned_folder.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"
#include "piddm/model/parameters.h"
#include "piddm/model/weights.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMaxLatentGrid = 1024;

/// Version 1 had no digest.
const JsonFormat& config_format() {
  static const JsonFormat format{.name = "piddm-model",
                                 .version = 2,
                                 .max_bytes = 4 << 20,
                                 .remedy = "copy the model again from where it came, or train it again"};
  return format;
}

json config_of(const Model& model) {
  json config = {{"kind", enum_names(model.kind).at(static_cast<size_t>(model.kind))},
                 {"pde", write_fields(model.pde->options())},
                 {"process", model.process->name()},
                 {"network", {{"type", model.network->type()}, {"options", model.network->options_json()}}},
                 {"normalizer", model.normalizer.to_json()}};
  if (model.kind != ModelKind::teacher) config["heads"] = write_fields(model.heads);
  if (model.kind == ModelKind::posterior) config["draw"] = write_fields(model.draw);
  if (model.latent_grid) config["latent_grid"] = model.latent_grid->to_json();
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

std::optional<GridSize> latent_grid_of(const json& config) {
  const auto given = config.find("latent_grid");
  if (given == config.end() || *given == 0) return {};
  const auto grid = GridSize::from_json(*given, "latent_grid");
  for (const int64_t side : grid)
    require<DataError>(side >= 1 && side <= kMaxLatentGrid, "latent_grid: must be at least 1 and at most {}, got {}",
                       kMaxLatentGrid, side);
  return grid;
}

Model from_config(const json& config) {
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
  if (model.kind != ModelKind::teacher) read_fields(config.at("heads"), model.heads, "heads");
  if (model.kind == ModelKind::posterior) read_fields(config.at("draw"), model.draw, "draw");
  model.latent_grid = latent_grid_of(config);
  model.provenance = config.value("provenance", json::object());
  require<DataError>(model.provenance.is_object(), "provenance: expected a table");
  if (const auto training = config.find("training"); training != config.end())
    read_fields(*training, model.training, "training");
  else
    model.training = recalled_training(model.kind, model.provenance);
  return model;
}

/// The model of a config, whose network has room for at most `numbers` parameters.
Model checked_config(const json& config, const std::string& origin, int64_t numbers) {
  const ParameterLimit limit(numbers);
  try {
    return understood(origin, "the config of a model", [&] { return from_config(config); });
  } catch (const DataError& error) {
    const std::string text = error.what();
    throw DataError("{}{}", text.starts_with(origin) ? "" : origin + ": ", text);
  } catch (const c10::Error& error) {
    throw DataError("{}: {}", origin, error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw DataError("{}: {}", origin, error.what());
  }
}

Model read_model(const fs::path& folder) {
  const auto weights = folder / "model.safetensors";
  const auto config = read_json_file(folder / "config.json", config_format());
  const auto tensors = read_safetensors(weights).tensors;
  int64_t numbers = 0;
  for (const auto& [name, x] : tensors) numbers += x.numel();
  // twice: what is missing or of another shape is named by load_weights
  auto model = checked_config(config, (folder / "config.json").string(), 2 * numbers);
  load_weights(*model.network, tensors, weights.string());
  require<DataError>(!config.contains("weights_sha256") || config["weights_sha256"] == sha256_file(weights),
                     "{}: damaged (its SHA-256 differs from the one in config.json): {}", weights.string(),
                     config_format().remedy);
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
  const auto grid = latent_grid.value_or(pde->grid());
  return normal(seed, stream, first, count, {pde->num_channels(), grid.height(), grid.width()}, torch::kFloat32,
                device());
}

torch::Device Model::device() const { return network->parameters().front().device(); }

int64_t Model::bytes_per_sample(bool gradient) const {
  const int64_t evaluation = network->bytes_per_sample(pde->num_channels(), pde->grid(), gradient);
  return gradient ? heads.evaluations * evaluation : evaluation;
}

void require_batch(const std::string& option, int64_t batch, const Model& model, bool gradient, int64_t extra_bytes) {
  require_memory(option, batch, (model.bytes_per_sample(gradient) + extra_bytes) / 4, model.device());
}

void save_model(const fs::path& folder, const Model& model) {
  AtomicFolder out(folder);
  write_safetensors(out.path() / "model.safetensors", weights_of(*model.network), {{"format", "piddm-model"}},
                    SafetensorsDigest::elsewhere);
  auto config = config_of(model);
  config["weights_sha256"] = sha256_file(out.path() / "model.safetensors");
  write_json_file(out.path() / "config.json", config_format(), config);
  out.commit();
}

Model load_model(const fs::path& path, torch::Device device) {
  const auto folder = model_folder(path);
  auto model = read_one_generation(folder, [&] { return read_model(folder); });
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
