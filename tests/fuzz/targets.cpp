#include "tests/fuzz/targets.h"

#include "piddm/core/error.h"

namespace piddm::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> list = {{"toml", toml},
                                           {"set", set},
                                           {"json", json_text},
                                           {"manifest", manifest},
                                           {"terminal", terminal},
                                           {"sensors", sensors},
                                           {"map", channel_map},
                                           {"npy", npy},
                                           {"zip", zip},
                                           {"safetensors", safetensors},
                                           {"mat5", mat5},
                                           {"csv", csv},
                                           {"expression", expression},
                                           {"pde_text", pde_text}};
  return list;
}

void feed(const Target& target, std::string_view input) {
  try {
    target.run(input);
  } catch (const Error&) {  // the promised answer
  }
}

}  // namespace piddm::fuzz
