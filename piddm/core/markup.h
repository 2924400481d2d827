#pragma once
// What tables, SVG pictures and HTML pages need to carry arbitrary text and bytes.

#include <string>
#include <string_view>

namespace piddm {

/// Text for element content and quoted attributes of HTML and XML: & < > " ' as entities; control characters, which XML
/// cannot carry, left out (tab and line breaks stay).
std::string escape_markup(std::string_view text);

/// RFC 4648, with padding, no line breaks.
std::string base64(std::string_view bytes);

}  // namespace piddm
