#pragma once
// Initial weights of a network: normals of Stream::parameters, one index of the stream per parameter in the order they
// are asked for, so that a seed always gives the same weights. Options that ask for more than there can be are refused
// before memory is taken.

#include <cstdint>
#include <string>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// Upper bounds of the sizes in the networks' options.
constexpr int64_t kMaxChannels = 1024, kMaxWidth = 65536, kMaxLayers = 1024, kMaxMultiplier = 1024, kMaxModes = 4096,
                  kMaxTimeFeatures = 4096, kMaxPoints = int64_t{1} << 20;

/// Numbers a network may consist of, where nothing else is said.
constexpr int64_t kMaxParameters = int64_t{1} << 31;

/// While it lives, networks that this thread makes may consist of at most `most` numbers: a file of weights holds only
/// so many.
class ParameterLimit {
 public:
  explicit ParameterLimit(int64_t most);
  ~ParameterLimit();
  ParameterLimit(const ParameterLimit&) = delete;
  ParameterLimit& operator=(const ParameterLimit&) = delete;

 private:
  int64_t before_;
};

/// While it lives, networks that this thread makes get no initial weights, only room for them: made for the errors of
/// their options, they cost next to nothing however large they are.
class TrialNetworks {
 public:
  TrialNetworks();
  ~TrialNetworks();
  TrialNetworks(const TrialNetworks&) = delete;
  TrialNetworks& operator=(const TrialNetworks&) = delete;

 private:
  bool before_;
};

/// The numbers of one network as they are asked for; a UsageError beyond the limit.
class ParameterCount {
 public:
  void add(const std::vector<int64_t>& shape);

 private:
  int64_t count_ = 0;
};

class ParameterDraw {
 public:
  ParameterDraw(torch::nn::Module& owner, uint64_t seed) : owner_(owner), seed_(seed) {}

  /// Registers a parameter of `owner`, mean + std N(0,1); dots in the name become underscores.
  Tensor operator()(const std::string& name, const std::vector<int64_t>& shape, double std, double mean = 0);

 private:
  torch::nn::Module& owner_;
  uint64_t seed_;
  int64_t drawn_ = 0;
  ParameterCount count_;
};

}  // namespace piddm
