#pragma once
// Tables for reports: built once, printed as Markdown, as aligned text for a terminal, as CSV, as LaTeX or as HTML.

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace piddm {

enum class Align { left, right };

/// Three significant digits: "0.500", "12.3", "-4.56e-5", "1.00e6". Fixed notation from 0.001 to 99999, where whole
/// parts are written out ("12345"); "0" for zero, "n/a" for what is not finite.
std::string format_number(double value);

class Table {
 public:
  /// One alignment per column; none at all means: first column left, the others right.
  explicit Table(std::vector<std::string> header, std::vector<Align> align = {});

  /// A row must have as many cells as the header, else UsageError.
  void add_row(std::vector<std::string> cells);

  /// Marks a cell, e.g. the best of its column: bold in Markdown, LaTeX and HTML; text and CSV stay plain. Rows count
  /// from 0 without the header; a cell that is not there is a UsageError, an empty one stays unmarked.
  void emphasise(size_t row, size_t column);

  size_t num_rows() const { return rows_.size(); }

  /// GitHub's dialect, columns padded so that the source reads well too; '|' and line breaks escaped.
  std::string markdown() const;
  std::string text() const;   ///< header, a rule, rows; two spaces between columns
  std::string csv() const;    ///< RFC 4180 quoting, lines end in '\n'
  std::string latex() const;  ///< a tabular with the rules of the booktabs package; special characters escaped
  /// A table element; cells of right-aligned columns have the class "r", those of more than 40 characters "long".
  std::string html() const;

 private:
  using Row = std::vector<std::string>;

  template <class Convert, class Bold>
  std::vector<Row> lines(Convert convert, Bold bold) const;  ///< header first, every cell converted

  Row header_;
  std::vector<Align> align_;
  std::vector<Row> rows_;
  std::set<std::pair<size_t, size_t>> emphasised_;  ///< (row, column)
};

}  // namespace piddm
