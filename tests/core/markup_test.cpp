#include "piddm/core/markup.h"

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(EscapeMarkup, LeavesNoSyntaxBehind) {
  EXPECT_EQ(escape_markup("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_markup("\xCE\xBB = 10\n\tx"), "\xCE\xBB = 10\n\tx");
}

TEST(EscapeMarkup, DropsWhatXmlCannotCarry) { EXPECT_EQ(escape_markup(std::string("a\0b\x1B[0m\x7F", 8)), "ab[0m"); }

TEST(Base64, FollowsTheStandard) {
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}};  // RFC 4648, section 10
  for (const auto& [bytes, text] : vectors) EXPECT_EQ(base64(bytes), text);
  EXPECT_EQ(base64(std::string("\xFF\xFE\x00\x80", 4)), "//4AgA==");
}

}  // namespace
}  // namespace piddm
