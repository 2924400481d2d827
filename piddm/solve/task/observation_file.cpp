#include "piddm/solve/task/observation_file.h"

#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "piddm/solve/task/sensor_list.h"

namespace piddm {

namespace {

TensorMap arrays_of(const std::filesystem::path& file, const Pde& pde) {
  require<UsageError>(file.extension() == ".npz" || file.extension() == ".safetensors",
                      "{}: expected .npz or .safetensors, or .csv for a list of sensors", file.string());
  check_digest(file);
  auto content = read_arrays(file);
  check_declared(read_description(content.description), pde, file.string() + " is");
  return std::move(content.arrays);
}

int64_t samples_in(const Tensor& array, const std::string& name, const Pde& pde, const std::string& file) {
  const int64_t h = pde.grid().height(), w = pde.grid().width();
  require<DataError>(array.dim() == 3 && array.size(1) == h && array.size(2) == w,
                     "{}: '{}' has shape {}, expected (N,{},{})", file, name, shape_string(array), h, w);
  return array.size(0);
}

int64_t samples_in(const TensorMap& arrays, const Pde& pde, const std::string& file) {
  int64_t samples = -1;
  for (const auto& channel : pde.channels())
    if (const auto found = arrays.find(channel.name); found != arrays.end()) {
      const int64_t count = samples_in(found->second, channel.name, pde, file);
      require<DataError>(samples < 0 || count == samples, "{}: channels have different numbers of samples", file);
      samples = count;
    }
  require<DataError>(samples > 0, "{}: has none of the channels of {}", file, pde.name());
  return samples;
}

Tensor checked_channel(const Tensor& array, const std::string& name, const std::string& file) {
  auto x = array.to(torch::kFloat32);
  require<DataError>(!torch::isinf(x).any().item<bool>(), "{}: '{}' has infinite values", file, name);
  return x;
}

/// Every channel's array, NaN where it has none: [N,C,H,W].
Tensor fields_of(const TensorMap& arrays, const Pde& pde, const std::string& file) {
  const int64_t samples = samples_in(arrays, pde, file), h = pde.grid().height(), w = pde.grid().width();
  std::vector<Tensor> fields;
  for (const auto& channel : pde.channels()) {
    const auto found = arrays.find(channel.name);
    fields.push_back(found == arrays.end() ? torch::full({samples, h, w}, NAN)
                                           : checked_channel(found->second, channel.name, file));
  }
  return torch::stack(fields, 1);
}

/// The arrays sigma_<channel>, zero where there is none; undefined if there are none at all.
Tensor sigma_of(const TensorMap& arrays, const Tensor& fields, const Pde& pde, const std::string& file) {
  auto sigma = torch::zeros_like(fields);
  bool any = false;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto name = "sigma_" + pde.channels()[static_cast<size_t>(c)].name;
    const auto found = arrays.find(name);
    if (found == arrays.end()) continue;
    const auto given = found->second.to(torch::kFloat32);
    require<DataError>(given.numel() == 1 || given.sizes() == fields.select(1, c).sizes(),
                       "{}: '{}' has shape {}, expected {} or one number", file, name, shape_string(given),
                       shape_string(fields.select(1, c)));
    require<DataError>((given >= 0).all().item<bool>() && all_finite(given), "{}: '{}' is negative or not finite", file,
                       name);
    sigma.select(1, c).copy_(given.numel() == 1 ? given.reshape({1, 1, 1}) : given);
    any = true;
  }
  return any ? sigma : Tensor();
}

ObservationFile from_fields(const TensorMap& arrays, const std::string& file, std::optional<Task> task, const Pde& pde,
                            uint64_t seed, const ObserveOptions& options, int64_t n) {
  auto fields = fields_of(arrays, pde, file);
  auto sigma = sigma_of(arrays, fields, pde, file);
  const int64_t count = n > 0 ? std::min(fields.size(0), n) : fields.size(0);
  fields = fields.narrow(0, 0, count);
  const auto known = torch::isfinite(fields);
  ObservationFile out;
  if (known.all().item<bool>()) {
    require<UsageError>(task.has_value(),
                        "{}: nothing in it is unknown, so it does not say what is asked for: add --task", file);
    out.truth = fields;
    out.observation = observe(*task, fields, pde, seed, options);
  } else {
    out.observation = {torch::where(known, fields, torch::zeros_like(fields)), known.to(torch::kFloat32)};
  }
  if (sigma.defined()) out.observation.sigma = sigma.narrow(0, 0, count);
  return out;
}

/// Sensors of the first n samples.
Observation first_samples(const Observation& all, int64_t n) {
  if (n <= 0 || n >= all.mask.size(0)) return all;
  const auto part = [n](const Tensor& x) { return x.defined() ? x.narrow(0, 0, n) : x; };
  return {part(all.values), part(all.mask), part(all.sigma), all.functionals.select(torch::arange(n))};
}

void hide_what_the_task_asks_for(Observation& observation, Task task, const Pde& pde) {
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (!reveals(task, pde.channels()[static_cast<size_t>(c)])) {
      observation.mask.select(1, c).zero_();
      if (!observation.functionals.empty())
        observation.functionals = observation.functionals.keep(observation.functionals.channel != c);
    }
}

/// The task of which these are the knowns.
Task concluded(const Observation& observation, const Pde& pde, const std::string& file) {
  bool solution = false, coefficient = false;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    const auto& rows = observation.functionals;
    const bool known =
        observation.mask.select(1, c).any().item<bool>() || (!rows.empty() && (rows.channel == c).any().item<bool>());
    if (channel.role == Role::solution) solution = solution || known;
    if (channel.role == Role::coefficient && !channel.given_in_inverse) coefficient = coefficient || known;
  }
  require<DataError>(solution || coefficient, "{}: nothing in it is known", file);
  return solution && coefficient ? Task::reconstruct : solution ? Task::inverse : Task::forward;
}

bool nothing_known(const Observation& observation) {
  return observation.mask.sum().item<double>() == 0 && observation.functionals.empty();
}

}  // namespace

ObservationFile read_observation(const std::filesystem::path& file, std::optional<Task> task, const Pde& pde,
                                 uint64_t seed, const ObserveOptions& options, int64_t n) {
  require<UsageError>(task != Task::generate,
                      "--task generate observes nothing; choose forward, inverse or reconstruct");
  ObservationFile out;
  if (file.extension() == ".csv") {
    out.observation = first_samples(read_sensor_csv(file, pde), n);
  } else {
    const auto arrays = arrays_of(file, pde);
    if (is_sensor_list(arrays))
      out.observation = first_samples(sensors_from_arrays(arrays, file.string(), pde), n);
    else
      out = from_fields(arrays, file.string(), task, pde, seed, options, n);
  }
  if (task && !out.truth.defined()) hide_what_the_task_asks_for(out.observation, *task, pde);
  require<DataError>(!task || !nothing_known(out.observation), "{}: nothing in it is known for the task {}",
                     file.string(), task ? task_name(*task) : "");
  out.task = task ? *task : concluded(out.observation, pde, file.string());
  return out;
}

}  // namespace piddm
