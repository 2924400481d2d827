#pragma once
// What libFuzzer and the replay of the corpus feed: one function for each parser of what a user or a file says. A
// target may throw a piddm::Error, which is the answer to a bad input; anything else it throws, and any sanitizer's
// report, is a finding. None needs LibTorch.

#include <string_view>
#include <vector>

namespace piddm::fuzz {

struct Target {
  std::string_view name;  ///< of its folder in corpus/
  void (*run)(std::string_view input);
};

const std::vector<Target>& targets();

/// Runs the target; a piddm::Error is swallowed.
void feed(const Target& target, std::string_view input);

void toml(std::string_view input);  ///< a config, then what to_toml makes of it
void set(std::string_view input);   ///< one --set setting a line, the first 40
void json_text(std::string_view input);
void terminal(std::string_view input);     ///< what a file says on the way to a terminal
void manifest(std::string_view input);     ///< manifest.sha256 of a checkpoint
void sensors(std::string_view input);      ///< a sensor list of the channels u and a
void channel_map(std::string_view input);  ///< the first line is --map, the second --axes

void expression(std::string_view input);  ///< of the PDE language, in the fields u, v, a, g and the parameters k, nu
void pde_text(std::string_view input);    ///< a PDE file

void npy(std::string_view input);
void zip(std::string_view input);  ///< all members, the headers of those called .npy
void safetensors(std::string_view input);
void mat5(std::string_view input);
void csv(std::string_view input);

}  // namespace piddm::fuzz
