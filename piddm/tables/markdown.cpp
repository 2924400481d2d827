#include "piddm/tables/markdown.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "piddm/core/markup.h"
#include "piddm/core/table.h"

namespace piddm {

namespace {

constexpr auto kNone = std::string_view::npos;

bool safe_target(std::string_view target) {
  return !target.empty() && (target.find(':') == kNone || target.substr(0, 8) == "https://");
}

std::string inline_html(std::string_view text);

/// The element that begins at text[0], and how many characters it takes; 0 where none begins.
std::pair<std::string, size_t> leading_element(std::string_view text) {
  if (text[0] == '`') {
    const size_t end = text.find('`', 1);
    if (end != kNone) return {"<code>" + escape_markup(text.substr(1, end - 1)) + "</code>", end + 1};
  }
  if (text.substr(0, 2) == "**") {
    const size_t end = text.find("**", 2);
    if (end != kNone && end > 2) return {"<strong>" + inline_html(text.substr(2, end - 2)) + "</strong>", end + 2};
  }
  if (text[0] == '[') {
    const size_t middle = text.find(']'), end = text.find(')', middle == kNone ? 0 : middle);
    if (middle == kNone || end == kNone || text[middle + 1] != '(') return {"", 0};
    const auto target = text.substr(middle + 2, end - middle - 2);
    if (safe_target(target))
      return {"<a href=\"" + escape_markup(target) + "\">" + inline_html(text.substr(1, middle - 1)) + "</a>", end + 1};
  }
  return {"", 0};
}

std::string inline_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [element, length] = leading_element(text);
    out += length > 0 ? element : escape_markup(text.substr(0, 1));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Collects lines of one kind and closes them as an element when the kind changes.
class Blocks {
 public:
  void add(std::string_view line) {
    const bool item = line.substr(0, 2) == "- ";
    if (line.find_first_not_of(" \t\r") == kNone) return close();
    if (item && !in_list_) close();
    if (!item && in_list_ && line[0] != ' ') close();
    if (item) {
      flush_item();
      in_list_ = true;
    }
    pending_ += (pending_.empty() ? "" : "\n") + std::string(line.substr(item ? 2 : line.find_first_not_of(' ')));
  }

  void close() {
    if (in_list_) {
      flush_item();
      out_ += "<ul>\n" + items_ + "</ul>\n";
    } else if (!pending_.empty()) {
      out_ += "<p>" + inline_html(pending_) + "</p>\n";
    }
    pending_.clear();
    items_.clear();
    in_list_ = false;
  }

  const std::string& html() const { return out_; }

 private:
  void flush_item() {
    if (in_list_ && !pending_.empty()) items_ += "<li>" + inline_html(pending_) + "</li>\n";
    pending_.clear();
  }

  std::string out_, items_, pending_;
  bool in_list_ = false;
};

}  // namespace

std::string markdown_to_html(std::string_view text) {
  Blocks blocks;
  for (const auto line : lines_of(text)) blocks.add(line);
  blocks.close();
  return blocks.html();
}

std::string number_cell(const json& row, const std::string& key) {
  return row.contains(key) && row.at(key).is_number() ? format_number(row.at(key).get<double>()) : "-";
}

}  // namespace piddm
