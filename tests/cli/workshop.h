#pragma once
// One tiny experiment, run once for all tests of this program: data, teacher, student, samples.

#include "piddm/core/fields.h"
#include "tests/cli/child.h"

namespace piddm::testing {

class Workshop {
 public:
  static const Workshop& get();

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  /// experiment.toml: 16x16, four channels, 20 steps. data.npz, other.npz (later samples), wide.npz (32x32), teacher/,
  /// student/, samples.npz.
  std::string config() const { return at("experiment.toml"); }

 private:
  Workshop();
  TempDir folder_;
};

/// A copy of a file or folder, cut off in the middle or with one bit changed at `share` of its length.
void truncate_file(const std::filesystem::path& file);
void flip_bit(const std::filesystem::path& file, double share);

/// Standard output as one JSON object; anything else is a failure.
json only_json(const Outcome& outcome);

}  // namespace piddm::testing
