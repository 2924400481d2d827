#pragma once
// What `generate` and `solve` do with samples once they have them.

#include <memory>
#include <vector>

#include "piddm/data/dataset.h"
#include "piddm/data/spool.h"
#include "piddm/data/statistics.h"
#include "piddm/files/tensor_map.h"
#include "piddm/model/model.h"
#include "piddm/solve/decode.h"

namespace piddm::cli {

/// A data file of samples that come piece by piece: on disk, not in memory, until all are there.
class SampleFile {
 public:
  SampleFile(std::string path, const Model& model);

  void append(const Tensor& x);

  /// A data file whose description says where the samples come from; with further arrays beside them, and keys beside
  /// its own.
  void write(const json& report, TensorMap arrays = {}, const json& more = json::object()) const;

 private:
  std::string path_;
  Model model_;
  std::vector<std::unique_ptr<Spool>> spools_;  ///< one for each channel
  int64_t n_ = 0;
  torch::ScalarType dtype_ = torch::kFloat32;
};

/// Says in the report that the samples diverged (eval/divergence.h), where its numbers do.
void note_divergence(json& report);

/// One "key  value" line per entry; "diverged" in the place of numbers where the report says so.
std::string format_report(const json& report);

}  // namespace piddm::cli
