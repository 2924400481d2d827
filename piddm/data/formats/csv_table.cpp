#include "piddm/data/formats/csv_table.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "piddm/core/error.h"
#include "piddm/core/input_file.h"

namespace piddm {

namespace {

constexpr size_t kBlock = size_t{1} << 20, kMaxLine = size_t{64} << 20;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class CsvParser {
 public:
  explicit CsvParser(std::string origin) : origin_(std::move(origin)) {}

  void add_line(std::string_view line) {
    ++line_;
    if (trimmed(line).empty()) {
      blank_ = true;
      return;
    }
    require<DataError>(!blank_, "[csv] {}: line {} follows an empty line", origin_, line_);
    int64_t columns = 0;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(',', at), line.size());
      values_.push_back(number(trimmed(line.substr(at, end - at)), ++columns));
      at = end + 1;
    }
    if (rows_++ == 0) columns_ = columns;
    require<DataError>(columns == columns_, "[csv] {}: line {} has {} columns, the first has {}", origin_, line_,
                       columns, columns_);
  }

  CsvTable table() && {
    require<DataError>(rows_ > 0, "[csv] {}: no numbers in it", origin_);
    return {std::move(values_), rows_, columns_};
  }

 private:
  double number(std::string_view text, int64_t column) const {
    double value = 0;
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    require<DataError>(error == std::errc() && end == text.data() + text.size() && !text.empty(),
                       "[csv] {}: line {}, column {}: '{}' is not a number", origin_, line_, column,
                       text.substr(0, 32));
    return value;
  }

  std::string origin_;
  std::vector<double> values_;
  int64_t line_ = 0, rows_ = 0, columns_ = 0;
  bool blank_ = false;
};

}  // namespace

CsvTable read_csv_table(const std::filesystem::path& path) {
  const InputFile file(path);
  CsvParser parser(path.string());
  std::string text;
  for (uint64_t at = 0; at < file.size();) {
    const size_t bytes = std::min<uint64_t>(kBlock, file.size() - at), old = text.size();
    require<DataError>(old <= kMaxLine, "[csv] {}: a line of more than {} bytes", path.string(), kMaxLine);
    text.resize(old + bytes);
    file.read(at, text.data() + old, bytes);
    at += bytes;
    size_t begin = 0;
    for (size_t end = text.find('\n', old); end != std::string::npos; end = text.find('\n', begin)) {
      parser.add_line(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
  }
  if (!text.empty()) parser.add_line(text);
  return std::move(parser).table();
}

}  // namespace piddm
