#include "piddm/core/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "piddm/core/error.h"
#include "piddm/core/markup.h"

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

/// What stands for a special character of LaTeX, "" for any other; line breaks become blanks.
std::string_view latex_symbol(char c) {
  constexpr std::string_view kEscaped = "&%$#_{}";
  constexpr std::string_view kSymbols[] = {"\\&", "\\%", "\\$", "\\#", "\\_", "\\{", "\\}"};
  if (const size_t i = kEscaped.find(c); i != std::string_view::npos) return kSymbols[i];
  switch (c) {
    case '\\':
      return "\\textbackslash{}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '|':
      return "\\textbar{}";
    default:
      return {};
  }
}

std::string latex_cell(std::string_view cell) {
  std::string out;
  for (const char c : one_line(std::string(cell))) {
    const auto symbol = latex_symbol(c);
    out += symbol.empty() ? std::string_view(&c, 1) : symbol;
  }
  return out;
}

std::string html_cell(std::string_view cell) {
  std::string out = escape_markup(cell);
  for (size_t at = out.find('\n'); at != std::string::npos; at = out.find('\n', at)) out.replace(at, 1, "<br>");
  return out;
}

constexpr size_t kLongCell = 40;

std::string_view html_class(const std::string& cell, Align align) {
  if (display_width(cell) > kLongCell) return " class=\"long\"";
  return align == Align::right ? " class=\"r\"" : "";
}

std::string html_row(const Row& cells, const std::vector<Align>& align, std::string_view tag) {
  std::string out = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, html_class(cells[i], align[i]), cells[i]);
  return out + "</tr>\n";
}

std::string plain(std::string cell) { return cell; }

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

void Table::emphasise(size_t row, size_t column) {
  require<UsageError>(row < rows_.size() && column < header_.size(),
                      "[table] no cell in row {}, column {} of a table of {} rows and {} columns", row, column,
                      rows_.size(), header_.size());
  if (!rows_[row][column].empty()) emphasised_.insert({row, column});
}

template <class Convert, class Bold>
std::vector<Table::Row> Table::lines(Convert convert, Bold bold) const {
  std::vector<Row> out(rows_.size() + 1);
  for (const std::string& cell : header_) out[0].push_back(convert(cell));
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t c = 0; c < header_.size(); ++c)
      out[r + 1].push_back(emphasised_.count({r, c}) ? bold(convert(rows_[r][c])) : convert(rows_[r][c]));
  return out;
}

std::string Table::markdown() const {
  const std::vector<Row> all = lines(markdown_cell, [](const std::string& cell) { return "**" + cell + "**"; });
  const std::vector<size_t> widths = column_widths(all, 3);
  Row rule;
  for (size_t i = 0; i < widths.size(); ++i)
    rule.push_back(align_[i] == Align::left ? ":" + std::string(widths[i] - 1, '-')
                                            : std::string(widths[i] - 1, '-') + ":");
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    out += "| " + join(padded(all[i], widths, align_), " | ") + " |\n";
    if (i == 0) out += "| " + join(rule, " | ") + " |\n";
  }
  return out;
}

std::string Table::text() const {
  const std::vector<Row> all = lines(one_line, plain);
  const std::vector<size_t> widths = column_widths(all, 1);
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    std::string line = join(padded(all[i], widths, align_), "  ");
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
  for (const Row& line : lines(csv_cell, plain)) out += join(line, ",") + "\n";
  return out;
}

std::string Table::latex() const {
  std::string columns;
  for (const Align align : align_) columns += align == Align::left ? 'l' : 'r';
  std::string out = fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n", columns);
  const std::vector<Row> all = lines(latex_cell, [](const std::string& cell) { return "\\textbf{" + cell + "}"; });
  for (size_t i = 0; i < all.size(); ++i) out += join(all[i], " & ") + (i == 0 ? " \\\\\n\\midrule\n" : " \\\\\n");
  return out + "\\bottomrule\n\\end{tabular}\n";
}

std::string Table::html() const {
  const auto bold = [](const std::string& cell) { return "<strong>" + cell + "</strong>"; };
  const std::vector<Row> all = lines(html_cell, bold);
  std::string out = "<table>\n<thead>\n" + html_row(all.front(), align_, "th") + "</thead>\n<tbody>\n";
  for (size_t i = 1; i < all.size(); ++i) out += html_row(all[i], align_, "td");
  return out + "</tbody>\n</table>\n";
}

}  // namespace piddm
