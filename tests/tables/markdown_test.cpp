#include "piddm/tables/markdown.h"

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(Markdown, MakesParagraphsAndLists) {
  EXPECT_EQ(markdown_to_html("one\ntwo\n\nthree\n- a\n- b\n  more\nafter\n"),
            "<p>one\ntwo</p>\n<p>three</p>\n<ul>\n<li>a</li>\n<li>b\nmore</li>\n</ul>\n<p>after</p>\n");
  EXPECT_EQ(markdown_to_html(""), "");
  EXPECT_EQ(markdown_to_html("\n \n- x"), "<ul>\n<li>x</li>\n</ul>\n");
}

TEST(Markdown, MarksCodeStrongAndLinks) {
  EXPECT_EQ(markdown_to_html("`a<b` and **c & `d`**"),
            "<p><code>a&lt;b</code> and <strong>c &amp; <code>d</code></strong></p>\n");
  EXPECT_EQ(markdown_to_html("[0,1] [**x**](t/a.csv) [y](https://e.org/?a=1&b)"),
            "<p>[0,1] <a href=\"t/a.csv\"><strong>x</strong></a> <a href=\"https://e.org/?a=1&amp;b\">y</a></p>\n");
}

TEST(Markdown, LeavesTheRestAsText) {
  EXPECT_EQ(markdown_to_html("2**3 `open [x](javascript:alert(1)) ]( [ ** **** <b>"),
            "<p>2<strong>3 `open [x](javascript:alert(1)) ]( [ </strong> **** &lt;b&gt;</p>\n");
  EXPECT_EQ(markdown_to_html("[x]"), "<p>[x]</p>\n");
  EXPECT_EQ(markdown_to_html("a ** b"), "<p>a ** b</p>\n");
}

}  // namespace
}  // namespace piddm
