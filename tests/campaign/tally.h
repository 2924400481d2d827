#pragma once
// The figures of a campaign, one row per command, printed as a table at its end.

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace piddm::testing {

class Tally {
 public:
  /// Column names besides "command".
  explicit Tally(std::vector<std::string> columns);

  /// May be called by several threads.
  void add(const std::string& command, const std::string& column, double amount = 1);

  /// Prints the table to standard output.
  void print(const std::string& title) const;

 private:
  std::vector<std::string> columns_, commands_;
  std::map<std::pair<std::string, std::string>, double> cells_;
  mutable std::mutex mutex_;
};

}  // namespace piddm::testing
