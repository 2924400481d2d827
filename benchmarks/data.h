#pragma once
// piddm bench data: processor time per sample on one core for every PDE, beside the same work done by scipy in the same
// run.

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/peer.h"

namespace piddm::bench {

struct DataOptions {
  std::vector<std::string> pdes;  ///< empty: all
  int64_t grid = 128;             ///< points per side; targets are for 128
  int64_t n = 8;                  ///< samples in a run
  int64_t repeats = 5;            ///< runs, of which the median counts
  std::string python;             ///< interpreter with scipy; "": the system's, "none": no scipy
  uint64_t seed = 0;
};

/// Seconds per sample: coefficients and solution in float64; residual with gradient in float32.
struct DataSeconds {
  double data = 0, residual = 0;
};

struct DataRow {
  std::string pde;
  DataSeconds seconds;
  std::optional<DataSeconds> target;   ///< on the grid that has targets
  json peer = json::object();          ///< what scipy's child says: its method and seconds_per_sample; empty: nothing
  std::optional<double> peer_seconds;  ///< per sample

  bool pass() const { return seconds.data <= target->data && seconds.residual <= target->residual; }
};

struct DataResult {
  DataOptions options;
  std::vector<DataRow> rows;
  PeerAnswer scipy;
};

/// On one thread, which stays set.
DataResult bench_data(DataOptions options);

json data_json(const DataResult& result);
std::string data_report(const DataResult& result);  ///< a table for people

}  // namespace piddm::bench
