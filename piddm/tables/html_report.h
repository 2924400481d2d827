#pragma once
// One self-contained HTML page of all results: nothing loaded from elsewhere, light and dark, readable on a phone. The
// header and the first column of a table stay in view; a click on a header sorts by it (a small script inside the
// page, without which everything is there all the same).

#include <filesystem>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/core/table.h"

namespace piddm {

struct ReportTable {
  Table table;
  std::string caption = {};
};

struct ReportPicture {
  std::filesystem::path path;  ///< .png or .svg, embedded in the page
  std::string caption = {};
};

struct ReportSection {
  std::string id;  ///< link target: a letter, then letters, digits, '-' and '_'; unique in the page
  std::string title;
  std::string text = {};  ///< what markdown.h understands
  std::vector<ReportTable> tables = {};
  std::vector<ReportPicture> pictures = {};
  json details = {};  ///< options, machine, ...: folded away below the section; null: none
};

/// The page: title, `introduction` (Markdown too), a contents list, then for each section its text, tables, pictures
/// and details. A bad or repeated id or a picture of another kind is a UsageError, a missing or unreadable picture a
/// DataError.
std::string html_report(const std::string& title, const std::vector<ReportSection>& sections,
                        const std::string& introduction = "");

}  // namespace piddm
