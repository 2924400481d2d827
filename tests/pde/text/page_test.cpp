// docs/pde-language.md: its files are PDEs, its mistakes are answered as it says.

#include <fstream>
#include <sstream>

#include "piddm/pde/text/text_pde.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

std::vector<std::string> page_lines() {
  std::ifstream file(testing::golden("../../docs/pde-language.md"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The fenced blocks with TOML.
std::vector<std::string> files_of_page() {
  std::vector<std::string> files;
  bool inside = false;
  for (const auto& line : page_lines()) {
    if (line.starts_with("```")) {
      inside = line.starts_with("```toml");
      if (inside) files.emplace_back();
    } else if (inside) {
      files.back() += line + "\n";
    }
  }
  return files;
}

/// What is written in place of a line of the first file, and what is answered.
std::vector<std::pair<std::string, std::string>> mistakes_of_page() {
  std::vector<std::pair<std::string, std::string>> mistakes;
  for (const auto& line : page_lines()) {
    const auto end = line.find("` | ");
    const auto written = line.starts_with("| `") && end != std::string::npos ? line.substr(3, end - 3) : "";
    if (written.find(" = ") == std::string::npos || !line.ends_with(" |")) continue;
    if (written.starts_with('"') || written.find("` `") != std::string::npos) continue;
    mistakes.emplace_back(written, line.substr(end + 4, line.size() - end - 6));
  }
  return mistakes;
}

TEST(LanguagePage, EveryFileIsAPde) {
  const auto files = files_of_page();
  EXPECT_GE(files.size(), 4);
  for (const auto& file : files) {
    const auto pde = make_pde(options_of_text(parse_toml(file, "page"), "page"));
    EXPECT_TRUE(pde->has_law());
    EXPECT_TRUE(all_finite(pde->sample(0, 0, 1))) << file;
  }
}

TEST(LanguagePage, EveryMistakeIsAnsweredAsItSays) {
  const auto table = parse_toml(files_of_page().at(0), "page");
  const auto mistakes = mistakes_of_page();
  EXPECT_GE(mistakes.size(), 10);
  for (const auto& [written, answer] : mistakes) {
    auto changed = table;
    changed.update(parse_toml(written, "page"));
    EXPECT_THAT([&] { make_pde(options_of_text(changed, "page")); },
                ::testing::ThrowsMessage<UsageError>(::testing::HasSubstr(answer)))
        << written;
  }
}

}  // namespace
}  // namespace piddm
