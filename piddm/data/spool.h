#pragma once
// An array that grows on disk: appended piece by piece to a file without a name, then mapped into memory as one tensor.
// The system keeps only as many pages of it in memory as there is room for.

#include <filesystem>

#include "piddm/core/tensor.h"

namespace piddm {

class Spool {
 public:
  /// A temporary file in `folder`, gone with the object or the process.
  Spool(const std::filesystem::path& folder, torch::ScalarType dtype);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Adds the values of x, whose first axis grows.
  void append(const Tensor& x);

  /// Everything so far, [n,...], read only. Lives independently of the spool.
  Tensor map() const;

 private:
  std::filesystem::path folder_;
  torch::ScalarType dtype_;
  int fd_ = -1;
  std::vector<int64_t> shape_;
};

}  // namespace piddm
