#pragma once
// A network v(x, t): the one interface behind teachers, students and every method that uses them.

#include <memory>
#include <string>

#include "piddm/core/precision.h"
#include "piddm/core/tensor.h"
#include "piddm/model/replay.h"
#include "piddm/numerics/grid_size.h"

namespace piddm {

/// Work done through a network, in sample evaluations: a batch of 32 counts 32.
struct WorkCount {
  int64_t forward = 0;
  int64_t backward = 0;
};

class Network : public torch::nn::Module {
 public:
  /// v(x, t) for x [B,C,H,W] in network units and times t [B] (or [1], the same for all). Counted.
  Tensor operator()(const Tensor& x, const Tensor& t);

  /// step(x, times), which calls this network `evaluations` times; as one launch on a GPU where Replay takes it.
  /// Counted as those calls.
  Tensor recorded_step(const std::string& name, const Tensor& x, const Tensor& times, int64_t evaluations,
                       const Replay::Forward& step);

  const WorkCount& work() const { return *work_; }

  /// Arithmetic on a GPU, for networks that have a choice: fp32 until something else is asked for. Residuals of the
  /// network's output need fp32; training a teacher and sampling it do not.
  void set_precision(Precision precision) { precision_ = precision; }
  Precision precision() const { return precision_; }

  /// "fno", and the options it was built with: make_network gives the same network back.
  virtual std::string type() const = 0;
  virtual json options_json() const = 0;

  /// Fourier modes along x and y: those it keeps of a field, or that a band-limited student keeps of its latent. Empty:
  /// it has none.
  virtual std::vector<int64_t> modes() const { return {}; }

  /// Bytes one sample of `channels` fields on this grid takes while the network is evaluated; with a gradient, what
  /// the graph of one evaluation keeps too. Counted from its sizes and meant as an upper bound.
  virtual int64_t bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const;

  /// Whether it is a map of functions: the same function on another grid gives the same answer, up to aliasing.
  virtual bool on_any_grid() const { return false; }

 protected:
  virtual Tensor forward(const Tensor& x, const Tensor& t) = 0;

 private:
  Tensor replayed(const std::string& name, const Tensor& x, const Tensor& t, const Replay::Forward& work);

  std::shared_ptr<WorkCount> work_ = std::make_shared<WorkCount>();
  Precision precision_ = Precision::fp32;
  Replay replay_;
  bool in_step_ = false;  ///< inside a step that is recorded as a whole
};

using NetworkPtr = std::shared_ptr<Network>;

/// Sizes of a network whose layers keep the grid.
struct LayerSizes {
  int64_t width;  ///< hidden channels
  int64_t layers = 1;
  int64_t pointwise = 0;  ///< hidden channels of the maps before and after the layers, together
};

/// Bytes one sample takes in such a network: 4 activations of a layer without a graph, 8 of every layer with one.
int64_t layered_bytes(const LayerSizes& sizes, int64_t channels, const GridSize& grid, bool gradient);

/// A network by type name; `seed` draws its initial weights.
NetworkPtr make_network(const std::string& type, const json& options, uint64_t seed);
std::vector<std::pair<std::string, std::string>> list_networks();

/// Another arithmetic for a network while the object lives; nothing for a module that is none.
class PrecisionScope {
 public:
  PrecisionScope(torch::nn::Module& module, Precision precision) : network_(dynamic_cast<Network*>(&module)) {
    if (!network_) return;
    before_ = network_->precision();
    network_->set_precision(precision);
  }
  ~PrecisionScope() {
    if (network_) network_->set_precision(before_);
  }
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  Network* network_;
  Precision before_ = Precision::fp32;
};

/// Sample evaluations since construction: `WorkMeter meter(net); ...; meter.spent()`.
class WorkMeter {
 public:
  explicit WorkMeter(const Network& network) : network_(network), start_(network.work()) {}
  WorkCount spent() const {
    return {network_.work().forward - start_.forward, network_.work().backward - start_.backward};
  }

 private:
  const Network& network_;
  WorkCount start_;
};

}  // namespace piddm
