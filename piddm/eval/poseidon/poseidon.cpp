#include "piddm/eval/poseidon/poseidon.h"

#include <set>

#include "piddm/core/input_file.h"
#include "piddm/core/json_text.h"
#include "piddm/files/safetensors.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxConfigBytes = 1 << 20, kMaxIndexBytes = 16 << 20;

json read_config(const fs::path& folder) {
  const auto name = folder.string();
  require<DataError>(fs::is_directory(folder), "{}: no such folder; it should be a downloaded Poseidon checkpoint",
                     name);
  const auto file = folder / "config.json";
  require<DataError>(fs::exists(file), "{}: not a Poseidon checkpoint (config.json is missing)", name);
  auto config = parse_json(read_file(file, kMaxConfigBytes), file.string());
  require<DataError>(!config.is_object() || config.value("format", json()) != "piddm-model",
                     "{}: a model of piddm, not a Poseidon checkpoint", name);
  const auto type = config.is_object() ? config.value("model_type", json("swinv2")) : json();
  require<DataError>(type == "swinv2", "{}: model_type {} is not that of Poseidon (swinv2)", file.string(),
                     type.dump());
  return config;
}

/// The files an index names, all beside it.
std::set<std::string> shards_of(const fs::path& index) {
  const auto text = parse_json<nlohmann::json>(read_file(index, kMaxIndexBytes), index.string(), {.keys = 65536});
  const bool has_map = text.is_object() && text.contains("weight_map") && text["weight_map"].is_object();
  require<DataError>(has_map, "{}: has no weight_map", index.string());
  std::set<std::string> shards;
  for (const auto& [tensor, file] : text["weight_map"].items()) {
    const bool plain = file.is_string() && fs::path(file.get<std::string>()).filename() == file.get<std::string>();
    require<DataError>(plain, "{}: '{}' is not in a file beside the index", index.string(), tensor);
    shards.insert(file.get<std::string>());
  }
  return shards;
}

TensorMap read_weights(const fs::path& folder) {
  const auto whole = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  if (fs::exists(whole)) return read_safetensors(whole).tensors;
  require<DataError>(fs::exists(index), "{}: model.safetensors is missing{}", folder.string(),
                     fs::exists(folder / "pytorch_model.bin")
                         ? "; pytorch_model.bin cannot be read, save the model with safetensors"
                         : "");
  TensorMap tensors;
  for (const auto& shard : shards_of(index)) tensors.merge(read_safetensors(folder / shard).tensors);
  return tensors;
}

}  // namespace

ScotEncoder load_poseidon(const fs::path& folder, torch::Device device, torch::ScalarType dtype) {
  const auto config = parse_scot_config(read_config(folder), (folder / "config.json").string());
  return {config, read_weights(folder), folder.string(), dtype, device};
}

}  // namespace piddm
