#pragma once
// The works of a BenchCase, ready to be run again and again.

#include <functional>
#include <map>
#include <memory>

#include "benchmarks/cost.h"
#include "piddm/core/cuda.h"

namespace piddm::bench {

struct Work {
  std::function<void()> run;
  bool capturable = false;  ///< does the same operations on the same memory each time, so a CUDA graph can play it back
};

/// Makes works and keeps the networks they share: drawing 17.9 M weights takes longer than running them.
class WorkShop {
 public:
  /// `form` is what is compared: fused is the library's own, fft the textbook's.
  Work make(const BenchCase& c, SpectralForm form);

 private:
  std::shared_ptr<Fno> network(const BenchCase& c, SpectralForm form, bool of_weights);
  std::map<std::string, std::shared_ptr<Fno>> networks_;
};

}  // namespace piddm::bench
