#include "tests/campaign/tally.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "piddm/core/table.h"

namespace piddm::testing {

Tally::Tally(std::vector<std::string> columns) : columns_(std::move(columns)) {}

void Tally::add(const std::string& command, const std::string& column, double amount) {
  const std::lock_guard lock(mutex_);
  if (std::find(commands_.begin(), commands_.end(), command) == commands_.end()) commands_.push_back(command);
  cells_[{command, column}] += amount;
}

void Tally::print(const std::string& title) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> header = {"command"};
  header.insert(header.end(), columns_.begin(), columns_.end());
  Table table(header);
  for (const auto& command : commands_) {
    std::vector<std::string> row = {command};
    for (const auto& column : columns_) {
      const auto cell = cells_.find({command, column});
      row.push_back(fmt::format("{:.0f}", cell == cells_.end() ? 0.0 : cell->second));
    }
    table.add_row(row);
  }
  fmt::print("\n{}\n{}\n", title, table.text());
  std::fflush(stdout);
}

}  // namespace piddm::testing
