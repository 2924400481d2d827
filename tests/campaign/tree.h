#pragma once
// What a command left behind, for comparison with what the undisturbed command leaves.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace piddm::testing {

/// {path below the folder: content}: hashes of files, targets of links. What depends on the clock is left out: times
/// in JSON and the digests of such files, the folder; of pages and tables with measured times only the words count.
using Tree = std::map<std::string, std::string>;

/// Parts of paths that are left out, e.g. "/checkpoints/".
Tree tree_of(const std::filesystem::path& folder, const std::vector<std::string>& without = {});

/// Names that are in one tree alone or differ in content.
struct TreeDifference {
  std::vector<std::string> missing, surplus, different;
  bool none() const { return missing.empty() && surplus.empty() && different.empty(); }
  std::string text() const;
};

TreeDifference compare_trees(const Tree& found, const Tree& expected);

/// What is finished and must not be done again, each with a number that may only grow: the step of a checkpoint, minus
/// the time at which a shard or a step of a recipe was finished.
using Finished = std::map<std::string, int64_t>;

Finished finished_in(const std::filesystem::path& folder);

/// Names of what was finished and is not there any more, or was done again.
std::vector<std::string> lost_since(const Finished& before, const Finished& after);

}  // namespace piddm::testing
