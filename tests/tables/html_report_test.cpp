#include "piddm/tables/html_report.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "piddm/core/markup.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What is wrong with the nesting of a page's elements; "" if nothing is.
std::string nesting_error(const std::string& html) {
  const std::set<std::string> empty_elements = {"!DOCTYPE", "meta", "img", "br"};
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const size_t end = html.find('>', at);
    if (end == std::string::npos) return "an element without an end";
    const bool closing = html[at + 1] == '/';
    const size_t begin = at + 1 + closing;
    const std::string name = html.substr(begin, html.find_first_of(" \n>", begin) - begin);
    if (closing) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes " + (open.empty() ? "?" : open.back());
      open.pop_back();
    } else if (!empty_elements.count(name)) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

Table small_table() {
  Table table({"method", "mmse"});
  table.add_row({"piddm-1 <ours>", "0.5"});
  table.emphasise(0, 1);
  return table;
}

struct Page {
  testing::TempDir dir;
  std::string html;
};

void write_page(Page& page) {
  testing::write_text(page.dir / "a.png", "bytes of a picture");
  testing::write_text(page.dir / "b.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
  const ReportSection first{.id = "table-generative",
                            .title = "Generation & co",
                            .text = "First **paragraph**\n\n- one\n- two",
                            .tables = {{small_table(), "a \"caption\""}},
                            .pictures = {{page.dir / "a.png", "map <u>"}, {page.dir / "b.svg"}},
                            .details = {{"seed", 0}, {"note", "</pre><script>"}}};
  page.html = html_report("Results of 100 % <all>", {first, {.id = "b", .title = "Second"}}, "See [it](#b).");
}

TEST(HtmlReport, IsWellFormed) {
  Page page;
  write_page(page);
  EXPECT_EQ(nesting_error(page.html), "");
  EXPECT_EQ(nesting_error(html_report("nothing", {})), "");
  EXPECT_THAT(page.html, ::testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  for (const char* part : {"<meta charset=\"utf-8\">", "name=\"viewport\"", "prefers-color-scheme: dark"})
    EXPECT_THAT(page.html, HasSubstr(part));
}

TEST(HtmlReport, NeedsNothingButItself) {
  Page page;
  write_page(page);
  for (const char* part : {"<script src", "<link", "http:", "https:", "url(", "@import", "file:"})
    EXPECT_THAT(page.html, Not(HasSubstr(part))) << part;
  EXPECT_THAT(page.html,
              HasSubstr("src=\"data:image/png;base64," + base64(testing::read_text(page.dir / "a.png")) + "\""));
  EXPECT_THAT(page.html,
              HasSubstr("src=\"data:image/svg+xml;base64," + base64(testing::read_text(page.dir / "b.svg")) + "\""));
  EXPECT_THAT(page.html, Not(HasSubstr(page.dir.path().string())));
}

TEST(HtmlReport, KeepsHeadersInViewAndSorts) {
  Page page;
  write_page(page);
  for (const char* part :
       {"thead th { border-bottom", "position: sticky; top: 0", "th:first-child, td:first-child { position: sticky",
        "@media (max-width: 40rem)", ".scroll { overflow: auto", "aria-sort", "addEventListener"})
    EXPECT_THAT(page.html, HasSubstr(part));
}

/// What Chromium makes of a page: its DOM after the scripts ran; "" without Chromium, or unless asked for.
std::string browser_dom(const std::filesystem::path& page, const std::string& more) {
  const auto command = fmt::format(
      "chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=2000 {} --dump-dom file://{} 2>/dev/null",
      more, page.string());
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

TEST(HtmlReport, SortsInABrowser) {
  if (!std::getenv("PIDDM_BROWSER") || std::system("command -v chromium > /dev/null") != 0)
    GTEST_SKIP() << "set PIDDM_BROWSER=1 and install Chromium (scripts/install-packages --with-browser)";
  testing::TempDir dir;
  Table table({"method", "error"});
  for (const auto& [method, error] : {std::pair("b", "10"), {"a", "9.5 [9, 10]"}, {"floor", "0.1"}, {"c", "1e-3"}})
    table.add_row({method, error});
  auto html = html_report("t", {{.id = "a", .title = "s", .tables = {{table}}}});
  html.replace(html.find("</body>"), 0, "<script>document.querySelectorAll('th')[1].click()</script>\n");
  testing::write_text(dir / "page.html", html);
  const auto dom = browser_dom(dir / "page.html", "--window-size=390,800");
  std::vector<size_t> places;
  for (const char* cell : {"<td>c</td>", "<td>a</td>", "<td>b</td>", "<td>floor</td>"})
    places.push_back(dom.find(cell));
  EXPECT_NE(places.front(), std::string::npos);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << dom;
  EXPECT_THAT(dom, HasSubstr("<tr class=\"floor\">"));
}

TEST(HtmlReport, ShowsAndEscapesWhatItIsGiven) {
  Page page;
  write_page(page);
  for (const char* part :
       {"<h1>Results of 100 % &lt;all&gt;</h1>", "<a href=\"#table-generative\">Generation &amp; co</a>",
        "<section id=\"table-generative\">", "<strong>paragraph</strong>", "<li>two</li>", "piddm-1 &lt;ours&gt;",
        "<strong>0.5</strong>", "<figcaption>a &quot;caption&quot;</figcaption>", "alt=\"map &lt;u&gt;\"",
        "alt=\"b.svg\"", "&lt;/pre&gt;&lt;script&gt;", "<a href=\"#b\">it</a>"})
    EXPECT_THAT(page.html, HasSubstr(part));
}

TEST(HtmlReport, NamesWhatIsWrong) {
  testing::TempDir dir;
  EXPECT_ERROR(html_report("t", {{.id = "a b", .title = ""}}), ExitCode::usage, "section id 'a b'");
  EXPECT_ERROR(html_report("t", {{.id = "", .title = ""}}), ExitCode::usage, "section id ''");
  EXPECT_ERROR(html_report("t", {{.id = "a", .title = ""}, {.id = "a", .title = ""}}), ExitCode::usage,
               "two sections have the id 'a'");
  const auto with = [&](const std::string& name) {
    return html_report("t", {{.id = "a", .title = "", .pictures = {{dir / name}}}});
  };
  EXPECT_ERROR(with("gone.png"), ExitCode::data, "gone.png");
  EXPECT_ERROR(with("a.gif"), ExitCode::usage, "a.gif: a picture must be .png or .svg");
}

}  // namespace
}  // namespace piddm
