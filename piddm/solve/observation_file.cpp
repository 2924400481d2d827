#include "piddm/solve/observation_file.h"

#include "piddm/core/npy.h"
#include "piddm/core/safetensors.h"

namespace piddm {

namespace {

TensorMap read_arrays(const std::filesystem::path& file) {
  if (file.extension() == ".npz") return read_npz(file).arrays;
  if (file.extension() == ".safetensors") return read_safetensors(file).tensors;
  throw UsageError("{}: expected .npz or .safetensors", file.string());
}

bool wanted(Task task, const Channel& channel) {
  if (task == Task::reconstruct) return !channel.scalar;
  return (task == Task::forward) == (channel.role == Role::coefficient);
}

int64_t samples_in(const Tensor& array, const std::string& name, const Pde& pde, const std::string& file) {
  require<DataError>(array.dim() == 3 && array.size(1) == pde.grid() && array.size(2) == pde.grid(),
                     "{}: '{}' has shape {}, expected (N,{},{})", file, name, shape_string(array), pde.grid(),
                     pde.grid());
  return array.size(0);
}

Tensor checked_channel(const Tensor& array, const std::string& name, const std::string& file) {
  const auto x = array.to(torch::kFloat32);
  require<DataError>(!torch::isinf(x).any().item<bool>(), "{}: '{}' has infinite values", file, name);
  return x;
}

}  // namespace

ObservationFile read_observation(const std::filesystem::path& file, Task task, const Pde& pde, uint64_t seed,
                                 double share, int64_t n) {
  require<UsageError>(task != Task::generate,
                      "--task generate observes nothing; choose forward, inverse or reconstruct");
  const auto arrays = read_arrays(file);
  int64_t samples = -1;
  for (const auto& channel : pde.channels())
    if (const auto found = arrays.find(channel.name); found != arrays.end()) {
      const int64_t count = samples_in(found->second, channel.name, pde, file.string());
      require<DataError>(samples < 0 || count == samples, "{}: channels have different numbers of samples",
                         file.string());
      samples = count;
    }
  require<DataError>(samples > 0, "{}: has none of the channels of {}", file.string(), pde.name());
  if (n > 0) samples = std::min(samples, n);

  std::vector<Tensor> values, masks;
  bool complete = true;
  for (const auto& channel : pde.channels()) {
    const auto found = arrays.find(channel.name);
    if (found == arrays.end()) {
      values.push_back(torch::zeros({samples, pde.grid(), pde.grid()}));
      masks.push_back(torch::zeros_like(values.back()));
      complete = false;
      continue;
    }
    const auto x = checked_channel(found->second, channel.name, file.string()).narrow(0, 0, samples);
    const auto known = torch::isfinite(x);
    complete = complete && known.all().item<bool>();
    values.push_back(torch::where(known, x, torch::zeros_like(x)));
    masks.push_back(wanted(task, channel) ? known.to(torch::kFloat32) : torch::zeros_like(x));
  }
  ObservationFile out{{torch::stack(values, 1), torch::stack(masks, 1)}, {}};
  if (complete) {
    out.truth = out.observation.values;
    out.observation = observe(task, out.truth, pde, seed, share);
  }
  require<DataError>(out.observation.mask.sum().item<double>() > 0, "{}: nothing in it is known for the task {}",
                     file.string(), task_name(task));
  return out;
}

}  // namespace piddm
