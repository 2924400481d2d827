#include "piddm/tables/html_report.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "piddm/core/input_file.h"
#include "piddm/core/markup.h"
#include "piddm/tables/markdown.h"

namespace piddm {

namespace {

constexpr size_t kMaxPicture = size_t{64} << 20;

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ink: #262a33; --faint: #646b78; --page: #fff; --shade: #f4f5f8; --rule: #d9dde4;
  --link: #1d5fa8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ec; --faint: #a2a9b6; --page: #16181d; --shade: #20232b;
  --rule: #3a3f4b; --link: #86b7f0; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); }
nav, main { padding: 1rem 1.2rem; }
nav { background: var(--shade); border-bottom: 1px solid var(--rule); font-size: .92rem; }
nav h2 { margin: 0 0 .4rem; font-size: 1rem; }
nav ol { margin: 0; padding-left: 1.5rem; }
nav a { text-decoration: none; }
main { min-width: 0; max-width: 76rem; }
h1 { margin: .2rem 0 1rem; font-size: 1.8rem; line-height: 1.2; }
section { margin: 2.2rem 0; padding-top: .4rem; border-top: 1px solid var(--rule); }
section h2 { margin: .6rem 0; font-size: 1.35rem; }
p, li { max-width: 46rem; }
figure { margin: 1.2rem 0; }
figcaption { margin: .3rem 0; color: var(--faint); font-size: .9rem; }
.scroll { overflow: auto; max-height: 85vh; }
table { border-collapse: separate; border-spacing: 0; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .6rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top;
  white-space: nowrap; }
thead th { border-bottom: 2px solid var(--faint); position: sticky; top: 0; background: var(--page); z-index: 2;
  cursor: pointer; }
thead th[aria-sort=ascending]::after { content: " \2191"; }
thead th[aria-sort=descending]::after { content: " \2193"; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--page); z-index: 1; }
thead th:first-child { z-index: 3; }
tr.floor td { color: var(--faint); border-top: 1px solid var(--faint); }
tbody tr:hover td { background: var(--shade); }
.r { text-align: right; }
.long { white-space: normal; min-width: 18rem; }
img { max-width: 100%; height: auto; background: #fff; border: 1px solid var(--rule); border-radius: 4px; }
code, pre { font-family: ui-monospace, monospace; font-size: .86em; }
code { background: var(--shade); padding: .1em .3em; border-radius: 3px; }
details { margin: 1rem 0; }
summary { cursor: pointer; color: var(--faint); font-size: .9rem; }
pre { overflow: auto; max-height: 30rem; padding: .8rem; background: var(--shade); border-radius: 4px; }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0;
        border-right: 1px solid var(--rule); }
  main { padding: 1rem 2.2rem; }
}
@media (max-width: 40rem) { nav, main { padding: .8rem; } table { font-size: .8rem; } .long { min-width: 12rem; } }
@media print { nav { display: none; } body { display: block; } .scroll { max-height: none; } }
)css";

// Rows by the numbers of a column (text where there are none), up and down in turn; floors stay at the end.
constexpr const char* kScript = R"js(
for (const row of document.querySelectorAll("tbody tr"))
  if ([...row.cells].some(cell => cell.textContent === "floor")) row.className = "floor";
for (const head of document.querySelectorAll("thead th")) {
  head.addEventListener("click", () => {
    const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const text = row => row.cells[column].textContent, number = row => parseFloat(text(row));
    const before = (a, b) => {
      const last = (a.className === "floor") - (b.className === "floor");
      if (last) return last;
      const x = number(a), y = number(b);
      if (isNaN(x) && isNaN(y)) return (down ? -1 : 1) * text(a).localeCompare(text(b));
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
      return down ? y - x : x - y;
    };
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...body.rows].sort(before));
  });
}
)js";

void check_ids(const std::vector<ReportSection>& sections) {
  std::set<std::string> seen;
  for (const auto& section : sections) {
    const auto& id = section.id;
    const bool good = !id.empty() && std::isalpha(static_cast<unsigned char>(id[0])) &&
                      std::all_of(id.begin(), id.end(), [](unsigned char c) {
                        return c < 0x80 && (std::isalnum(c) || c == '-' || c == '_');
                      });
    require<UsageError>(good, "[report] section id '{}' must be a letter, then letters, digits, '-' or '_'", id);
    require<UsageError>(seen.insert(id).second, "[report] two sections have the id '{}'", id);
  }
}

std::string mime_type(const std::filesystem::path& path) {
  if (path.extension() == ".png") return "image/png";
  require<UsageError>(path.extension() == ".svg", "[report] {}: a picture must be .png or .svg", path.string());
  return "image/svg+xml";
}

std::string caption_html(const std::string& caption) {
  return caption.empty() ? "" : "<figcaption>" + escape_markup(caption) + "</figcaption>\n";
}

std::string table_html(const ReportTable& table) {
  return "<figure>\n" + caption_html(table.caption) + "<div class=\"scroll\" tabindex=\"0\">\n" + table.table.html() +
         "</div>\n</figure>\n";
}

std::string picture_html(const ReportPicture& picture) {
  const std::string type = mime_type(picture.path), bytes = read_file(picture.path, kMaxPicture);
  const std::string name = picture.caption.empty() ? picture.path.filename().string() : picture.caption;
  return fmt::format("<figure>\n<img alt=\"{}\" src=\"data:{};base64,{}\">\n{}</figure>\n", escape_markup(name), type,
                     base64(bytes), caption_html(picture.caption));
}

std::string details_html(const json& details) {
  if (details.is_null()) return "";
  const std::string text = details.dump(2, ' ', false, json::error_handler_t::replace);
  return "<details>\n<summary>Settings and machine</summary>\n<pre>" + escape_markup(text) + "</pre>\n</details>\n";
}

std::string section_html(const ReportSection& section) {
  std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escape_markup(section.title));
  out += markdown_to_html(section.text);
  for (const auto& table : section.tables) out += table_html(table);
  for (const auto& picture : section.pictures) out += picture_html(picture);
  return out + details_html(section.details) + "</section>\n";
}

std::string contents_html(const std::vector<ReportSection>& sections) {
  std::string out = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n";
  for (const auto& section : sections)
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escape_markup(section.title));
  return out + "</ol>\n</nav>\n";
}

}  // namespace

std::string html_report(const std::string& title, const std::vector<ReportSection>& sections,
                        const std::string& introduction) {
  check_ids(sections);
  const std::string name = escape_markup(title);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      name + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n";
  out += contents_html(sections) + "<main>\n<h1>" + name + "</h1>\n" + markdown_to_html(introduction);
  for (const auto& section : sections) out += section_html(section);
  return out + "</main>\n<script>" + kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace piddm
