#include "piddm/model/parameters.h"

#include <algorithm>

#include "piddm/core/rng.h"

namespace piddm {

Tensor ParameterDraw::operator()(const std::string& name, const std::vector<int64_t>& shape, double std, double mean) {
  std::string key = name;  // module parameters may not contain dots
  std::replace(key.begin(), key.end(), '.', '_');
  return owner_.register_parameter(key, normal(seed_, Stream::parameters, drawn_++, 1, shape)[0] * std + mean);
}

}  // namespace piddm
