// The entry that libFuzzer calls, for the target named at compile time.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto& target : piddm::fuzz::targets())
    if (target.name == PIDDM_FUZZ_TARGET) {
      piddm::fuzz::feed(target, {reinterpret_cast<const char*>(data), size});
      return 0;
    }
  std::abort();
}
