#pragma once
// Damaged bits of a file: every one must be noticed, or make no difference.

#include <algorithm>
#include <cstdlib>
#include <string>

#include "piddm/core/fields.h"
#include "piddm/files/sha256.h"
#include "tests/files/formats.h"

namespace piddm::testing {

/// How many bits of each file are flipped: `few`, or PIDDM_TEST_FLIPS; at most all.
inline uint64_t flips_of(const std::string& bytes, uint64_t few) {
  const char* asked = std::getenv("PIDDM_TEST_FLIPS");
  return std::min<uint64_t>(asked ? std::strtoull(asked, nullptr, 10) : few, bytes.size() * 8);
}

/// Flips bits of `file`, scattered over it: `content()`, which reads it, must refuse it as an Error with the exit code
/// 2 or 3, or give what it gave before. At least one flip must be refused. The file is left as it was.
template <class F>
void expect_no_silent_damage(const std::filesystem::path& file, F&& content, uint64_t few = 400) {
  const auto bytes = read_text(file);
  const auto expected = content();
  uint64_t refused = 0;
  for (uint64_t k = 0, count = flips_of(bytes, few); k < count; ++k) {
    write_text(file, flip_bit(bytes, k));
    try {
      const bool same = content() == expected;
      EXPECT_TRUE(same) << file << ": flip " << k << " is accepted and gives something else";
    } catch (const Error& error) {
      ++refused;
      EXPECT_TRUE(error.code() == ExitCode::data || error.code() == ExitCode::usage) << error.what();
      EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 0u) << file;
  write_text(file, bytes);
  EXPECT_TRUE(content() == expected);
}

/// Changes a JSON document of ours as one who can also compute its digest.
inline void edit_sealed(const std::filesystem::path& file, const std::function<void(json&)>& change) {
  auto document = json::parse(read_text(file));
  document.erase("sha256");
  change(document);
  document["sha256"] = sha256_hex(document.dump());
  write_text(file, document.dump());
}

}  // namespace piddm::testing
