#pragma once
// Tables for reports: built once, printed as Markdown, as aligned text for a terminal, or as CSV.

#include <string>
#include <string_view>
#include <vector>

namespace piddm {

enum class Align { left, right };

/// Three significant digits: "0.500", "12.3", "-4.56e-5", "1.00e6". Fixed notation from 0.001 to 99999, where whole
/// parts are written out
/// ("12345"); "0" for zero, "n/a" for what is not finite.
std::string format_number(double value);

class Table {
 public:
  /// One alignment a column; none at all means: first column left, the others right.
  explicit Table(std::vector<std::string> header, std::vector<Align> align = {});

  /// A row must have as many cells as the header, else UsageError.
  void add_row(std::vector<std::string> cells);

  size_t num_rows() const { return rows_.size(); }

  std::string markdown()
      const;  ///< GitHub's dialect, columns padded so that the source reads well too; '|' and line breaks escaped
  std::string text() const;  ///< header, a rule, rows; two spaces between columns
  std::string csv() const;   ///< RFC 4180 quoting, lines end in '\n'

 private:
  std::vector<std::string> header_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace piddm
