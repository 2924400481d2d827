#include "piddm/model/parameters.h"

#include <algorithm>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/core/rng.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

namespace {

thread_local int64_t most_parameters = kMaxParameters;
thread_local bool on_trial = false;

}  // namespace

ParameterLimit::ParameterLimit(int64_t most) : before_(std::exchange(most_parameters, most)) {}
ParameterLimit::~ParameterLimit() { most_parameters = before_; }

TrialNetworks::TrialNetworks() : before_(std::exchange(on_trial, true)) {}
TrialNetworks::~TrialNetworks() { on_trial = before_; }

void ParameterCount::add(const std::vector<int64_t>& shape) {
  const auto numbers = checked_bytes(shape, 1);
  require<UsageError>(numbers && *numbers <= most_parameters - count_,
                      "model: its sizes make a network of more than {} parameters, the most allowed here",
                      most_parameters);
  count_ += *numbers;
}

Tensor ParameterDraw::operator()(const std::string& name, const std::vector<int64_t>& shape, double std, double mean) {
  count_.add(shape);
  std::string key = name;  // module parameters may not contain dots
  std::replace(key.begin(), key.end(), '.', '_');
  if (on_trial) return owner_.register_parameter(key, torch::empty(shape));
  return owner_.register_parameter(key, normal(seed_, Stream::parameters, drawn_++, 1, shape)[0] * std + mean);
}

}  // namespace piddm
