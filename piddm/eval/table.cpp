#include "piddm/eval/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "piddm/core/error.h"

namespace piddm {
namespace {

using Row = std::vector<std::string>;

/// Characters of UTF-8 text: bytes that do not continue one.
size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad(const std::string& cell, size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  return align == Align::left ? cell + blanks : blanks + cell;
}

std::vector<size_t> column_widths(const std::vector<Row>& lines, size_t least) {
  std::vector<size_t> widths(lines.front().size(), least);
  for (const Row& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
  return widths;
}

std::string markdown_cell(std::string_view cell) {
  std::string out;
  for (const char c : cell) {
    if (c == '|')
      out += "\\|";
    else if (c == '\n')
      out += "<br>";
    else if (c != '\r')
      out += c;
  }
  return out;
}

std::string one_line(std::string cell) {
  std::replace_if(
      cell.begin(), cell.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return cell;
}

std::string csv_cell(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

template <class F>
std::vector<Row> all_lines(const Row& header, const std::vector<Row>& rows, F&& convert) {
  std::vector<Row> lines;
  const auto add = [&](const Row& row) {
    Row& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(convert(cell));
  };
  add(header);
  for (const Row& row : rows) add(row);
  return lines;
}

std::string join(const Row& cells, std::string_view separator) {
  return fmt::format("{}", fmt::join(cells, separator));
}

Row padded(const Row& cells, const std::vector<size_t>& widths, const std::vector<Align>& align) {
  Row out;
  for (size_t i = 0; i < cells.size(); ++i) out.push_back(pad(cells[i], widths[i], align[i]));
  return out;
}

}  // namespace

std::string format_number(double value) {
  if (!std::isfinite(value)) return "n/a";
  if (value == 0) return "0";
  const std::string scientific = fmt::format("{:.2e}", value);
  const size_t e = scientific.find('e');
  const int exponent = std::stoi(scientific.substr(e + 1));
  if (exponent < -3 || exponent > 4) return fmt::format("{}e{}", scientific.substr(0, e), exponent);
  return fmt::format("{:.{}f}", value, std::max(0, 2 - exponent));
}

Table::Table(std::vector<std::string> header, std::vector<Align> align)
    : header_(std::move(header)), align_(std::move(align)) {
  require<UsageError>(!header_.empty(), "[table] a table needs at least one column");
  if (align_.empty()) {
    align_.assign(header_.size(), Align::right);
    align_.front() = Align::left;
  }
  require<UsageError>(align_.size() == header_.size(), "[table] {} alignments for {} columns", align_.size(),
                      header_.size());
}

void Table::add_row(std::vector<std::string> cells) {
  require<UsageError>(cells.size() == header_.size(), "[table] a row of {} cells in a table of {} columns",
                      cells.size(), header_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::markdown() const {
  const std::vector<Row> lines = all_lines(header_, rows_, markdown_cell);
  const std::vector<size_t> widths = column_widths(lines, 3);
  Row rule;
  for (size_t i = 0; i < widths.size(); ++i)
    rule.push_back(align_[i] == Align::left ? ":" + std::string(widths[i] - 1, '-')
                                            : std::string(widths[i] - 1, '-') + ":");
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    out += "| " + join(padded(lines[i], widths, align_), " | ") + " |\n";
    if (i == 0) out += "| " + join(rule, " | ") + " |\n";
  }
  return out;
}

std::string Table::text() const {
  const std::vector<Row> lines = all_lines(header_, rows_, one_line);
  const std::vector<size_t> widths = column_widths(lines, 1);
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string line = join(padded(lines[i], widths, align_), "  ");
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (i > 0) continue;
    Row rule;
    for (const size_t width : widths) rule.emplace_back(width, '-');
    out += join(rule, "  ") + "\n";
  }
  return out;
}

std::string Table::csv() const {
  std::string out;
  for (const Row& line : all_lines(header_, rows_, csv_cell)) out += join(line, ",") + "\n";
  return out;
}

}  // namespace piddm
