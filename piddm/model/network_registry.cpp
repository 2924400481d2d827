#include "piddm/model/network_registry.h"

#include "piddm/model/autoencoder.h"
#include "piddm/model/ffno.h"
#include "piddm/model/fno.h"
#include "piddm/model/mlp.h"
#include "piddm/model/unet.h"

namespace piddm {

namespace {

using NetworkRegistry = Registry<NetworkPtr(const json&, uint64_t)>;

struct NetworkType {
  NetworkRegistry::Entry entry;
  std::string (*describe)(const std::string& prefix);
};

template <class N, class Options>
NetworkType network_type(const char* name, const char* summary) {
  const auto make = [](const json& given, uint64_t seed) -> NetworkPtr {
    Options options;
    read_fields(given, options, "model");
    return std::make_shared<N>(options, seed);
  };
  return {{name, summary, make}, [](const std::string& prefix) { return describe_fields<Options>({}, prefix); }};
}

const std::vector<NetworkType>& network_types() {
  static const std::vector<NetworkType> types = {
      network_type<Fno, FnoOptions>("fno", "Fourier neural operator with time encoding (the paper's network)"),
      network_type<Ffno, FfnoOptions>("ffno", "factorised Fourier neural operator: one spectrum per axis, compact"),
      network_type<Unet, UnetOptions>("unet", "convolutional U-Net with attention on the coarse levels"),
      network_type<Autoencoder, AutoencoderOptions>("autoencoder", "convolutional auto-encoder, no skip connections"),
      network_type<Mlp, MlpOptions>("mlp", "multilayer perceptron on the flattened sample, for mixtures and toys"),
  };
  return types;
}

}  // namespace

const NetworkRegistry& network_registry() {
  static const NetworkRegistry registry = [] {
    std::vector<NetworkRegistry::Entry> entries;
    for (const auto& type : network_types()) entries.push_back(type.entry);
    return NetworkRegistry("model", entries);
  }();
  return registry;
}

NetworkPtr network_from(const json& table, int64_t channels, uint64_t seed, int64_t conditions) {
  require<UsageError>(table.is_object(), "model: expected a table such as {{type = \"fno\"}}, got {}", table.dump());
  json options = table;
  std::string type = "fno";
  if (const auto given = options.find("type"); given != options.end()) {
    detail::read_value(*given, type, "model.type");
    options.erase(given);
  }
  if (const auto given = options.find("channels"); given != options.end()) {
    int64_t unused = 0;  // the PDE's are taken; a stored table may have those of another
    detail::read_value(*given, unused, "model.channels");
  }
  options["channels"] = channels;
  require<UsageError>(conditions == 0 || type == "fno", "model.type: '{}' takes no observations; choose fno", type);
  if (conditions > 0)
    options["conditions"] = conditions;
  else
    options.erase("conditions");
  return make_network(type, options, seed);
}

std::string describe_networks(const std::string& prefix) {
  std::string text;
  for (const auto& type : network_types())
    text +=
        fmt::format("\n# {}.type = \"{}\": {}\n{}", prefix, type.entry.name, type.entry.summary, type.describe(prefix));
  return text;
}

}  // namespace piddm
