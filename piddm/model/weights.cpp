#include "piddm/model/weights.h"

#include "piddm/core/error.h"
#include "piddm/files/sha256.h"

namespace piddm {

TensorMap weights_of(const torch::nn::Module& module) {
  TensorMap out;
  for (const auto& entry : module.named_parameters())
    out[entry.key()] = entry.value().detach().to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true);
  return out;
}

std::string weights_digest(const torch::nn::Module& module) {
  Sha256 hash;
  for (const auto& [name, tensor] : weights_of(module)) hash.update(name), hash.update(bytes_of(packed(tensor)));
  return hash.hex();
}

void load_weights(torch::nn::Module& module, const TensorMap& weights, const std::string& origin) {
  const auto parameters = module.named_parameters();
  for (const auto& [name, unused] : weights)
    require<DataError>(parameters.contains(name), "{}: tensor '{}' does not belong to this network", origin, name);
  torch::NoGradGuard no_grad;
  for (const auto& entry : parameters) {
    const auto found = weights.find(entry.key());
    require<DataError>(found != weights.end(), "{}: tensor '{}' is missing", origin, entry.key());
    require<DataError>(found->second.sizes() == entry.value().sizes(), "{}: tensor '{}' has shape {}, expected {}",
                       origin, entry.key(), shape_string(found->second), shape_string(entry.value()));
    require<DataError>(all_finite(found->second.to(entry.value().scalar_type())),
                       "{}: tensor '{}' has non-finite values", origin, entry.key());
    entry.value().copy_(found->second);
  }
}

}  // namespace piddm
