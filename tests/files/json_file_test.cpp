#include "piddm/files/json_file.h"

#include <cmath>

#include "tests/files/flips.h"

namespace piddm {
namespace {

using testing::read_text;
using testing::TempDir;
using testing::write_text;

const JsonFormat kKind{.name = "piddm-thing", .version = 2, .remedy = "make it again"};
const json kContent = {{"name", "größe"},
                       {"numbers", {0.1, 1.0, -0.0, 1e-300, 12345678901234567, 1.0 / 3}},
                       {"nested", {{"on", true}, {"none", nullptr}}}};

TEST(JsonFile, GivesBackWhatWasWrittenAndSaysWhatItIs) {
  const TempDir dir;
  write_json_file(dir / "a.json", kKind, kContent);
  EXPECT_EQ(read_json_file(dir / "a.json", kKind).dump(), kContent.dump());
  const auto document = json::parse(read_text(dir / "a.json"));
  EXPECT_EQ(document.at("format"), "piddm-thing");
  EXPECT_EQ(document.at("version"), 2);
  EXPECT_EQ(document.at("sha256").get<std::string>().size(), 64u);
  write_json_file(dir / "b.json", kKind, kContent);
  EXPECT_EQ(read_text(dir / "a.json"), read_text(dir / "b.json"));
}

TEST(JsonFile, NumbersThatAreNoneAreNullAndDoNotBreakTheDigest) {
  const TempDir dir;
  write_json_file(dir / "a.json", kKind, {{"a", NAN}, {"b", INFINITY}});
  EXPECT_EQ(read_json_file(dir / "a.json", kKind), (json{{"a", nullptr}, {"b", nullptr}}));
}

TEST(JsonFile, WhiteSpaceIsFree) {
  const auto compact = json::parse(seal_json(kKind, kContent)).dump();
  EXPECT_EQ(unseal_json(compact, kKind, "x"), kContent);
}

TEST(JsonFile, NoBitChangesUnnoticed) {
  const TempDir dir;
  write_json_file(dir / "a.json", kKind, kContent);
  testing::expect_no_silent_damage(
      dir / "a.json", [&] { return read_json_file(dir / "a.json", kKind).dump(); }, 1000);
}

TEST(JsonFile, OneThatWasEditedIsRefusedWithWhatToDo) {
  auto document = json::parse(seal_json(kKind, kContent));
  document["name"] = "klein";
  EXPECT_ERROR(unseal_json(document.dump(), kKind, "x"), ExitCode::data,
               "x: damaged or edited by hand (its SHA-256 differs): make it again");
  document = json::parse(seal_json(kKind, kContent));
  document.erase("sha256");
  EXPECT_ERROR(unseal_json(document.dump(), kKind, "x"), ExitCode::data, "damaged or edited by hand");
}

TEST(JsonFile, DocumentsFromBeforeThereWereDigestsAreRead) {
  EXPECT_EQ(unseal_json(kContent.dump(), kKind, "x"), kContent);
  json first = {{"format", "piddm-thing"}, {"version", 1}};
  first.update(kContent);
  EXPECT_EQ(unseal_json(first.dump(), kKind, "x"), kContent);
  EXPECT_EQ(unseal_json(R"({"version": "0.2.0", "n": 1})", kKind, "x").at("n"), 1);
}

TEST(JsonFile, LaterVersionsAndOtherKindsAreRefused) {
  auto later = kKind;
  later.version = 3;
  EXPECT_ERROR(unseal_json(seal_json(later, kContent), kKind, "x"), ExitCode::data,
               "x: written by a later version of piddm (piddm-thing 3, this one reads up to 2)");
  auto other = kKind;
  other.name = "piddm-other";
  EXPECT_ERROR(unseal_json(seal_json(other, kContent), kKind, "x"), ExitCode::data,
               "x: its format is \"piddm-other\", not piddm-thing");
  for (const char* version : {"0", "-1", "1.5", "\"2\""})
    EXPECT_ERROR(unseal_json(fmt::format(R"({{"format": "piddm-thing", "version": {}}})", version), kKind, "x"),
                 ExitCode::data, "without a version");
  EXPECT_ERROR(unseal_json("[1]", kKind, "x"), ExitCode::data, "x: not a JSON object");
}

TEST(JsonFile, WhatIsMissingIsSaidInPlainWords) {
  const auto use = [] { return understood("x", "a thing", [] { return kContent.at("reading").get<int>(); }); };
  EXPECT_ERROR(use(), ExitCode::data, "x: not a thing: key 'reading' not found");
}

}  // namespace
}  // namespace piddm
