#pragma once
// The small part of Markdown that reports are written in, and their cells.

#include <string>
#include <string_view>

#include "piddm/core/fields.h"

namespace piddm {

/// HTML of paragraphs (apart by blank lines), lists (lines that begin with "- "; indented lines continue an item),
/// `code`, **strong** and [text](target). Everything else is plain text and escaped. A target may be "#id", a relative
/// path or an https address; any other is left as text.
std::string markdown_to_html(std::string_view text);

/// The number row[key] as tables show it; "-" where there is none.
std::string number_cell(const json& row, const std::string& key);

}  // namespace piddm
