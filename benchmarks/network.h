#pragma once
// piddm bench spectral | fno | train | sample: the network and what is done with it, beside the textbook form on the
// same LibTorch and beside plain PyTorch, in one run. docs/benchmarks.md describes the JSON.

#include <algorithm>
#include <map>
#include <optional>

#include "benchmarks/cost.h"
#include "benchmarks/peer.h"
#include "benchmarks/timing.h"

namespace piddm::bench {

struct NetworkOptions {
  std::string bench;  ///< spectral, fno, train or sample
  FnoOptions fno;
  int64_t steps = 100;  ///< of the teacher
  int64_t repeats = 5;  ///< turns, of which the median counts
  std::vector<int64_t> batches = {};
  std::vector<GridSize> grids = {128};
  std::vector<Precision> precisions = {Precision::fp32};
  std::string python;    ///< interpreter with torch; "": the system's, "none": no PyTorch
  bool scaling = false;  ///< also over batches at the first grid and over grids 32 to 256
  torch::Device device = torch::kCPU;
  uint64_t seed = 0;
};

/// The paper's; on the CPU what ends soon.
std::vector<int64_t> default_batches(const std::string& bench, torch::Device device);

/// Milliseconds as called, and on a GPU, where the work allows it, played back as a CUDA graph.
struct FormTime {
  double eager_ms = 0;
  std::optional<double> graph_ms;
  double best() const { return graph_ms ? std::min(eager_ms, *graph_ms) : eager_ms; }
};

/// One case: its time, that of the peers where there are any, and the least any implementation would take; or why it
/// was skipped.
struct NetworkRow {
  BenchCase work;
  std::string skipped;  ///< "": measured
  FormTime ours = {};
  std::optional<double> fft_ms = {}, torch_ms = {};  ///< the textbook form, plain PyTorch
  std::optional<int64_t> peak_bytes = {};
  Cost least = {};
  double floor_ms = 0;

  double gbps() const { return least.bytes / (1e6 * ours.best()); }
  double tflops() const { return least.flop / (1e9 * ours.best()); }
};

struct NetworkResult {
  NetworkOptions options;
  std::vector<NetworkRow> rows;  ///< in the order of the cases
  std::map<Precision, Ceilings> ceilings;
  PeerAnswer torch;
};

NetworkResult bench_network(const NetworkOptions& options);

json network_json(const NetworkResult& result);
std::string network_report(const NetworkResult& result);  ///< a table for people

}  // namespace piddm::bench
