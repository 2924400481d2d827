#include "piddm/files/sha256.h"

#include "tests/testing.h"

namespace piddm {
namespace {

// FIPS 180-4 examples.
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, StandardVectors) {
  EXPECT_EQ(sha256_hex(""), kEmpty);
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), kMillionA);
}

TEST(Sha256, PiecesGiveTheSameDigest) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.hex(), kAbc);
}

TEST(Sha256, FilesAreStreamed) {
  const testing::TempDir dir;
  const std::string text(3 * (1 << 20) + 17, 'z');
  testing::write_text(dir / "large", text);
  testing::write_text(dir / "empty", "");
  EXPECT_EQ(sha256_file(dir / "large"), sha256_hex(text));
  EXPECT_EQ(sha256_file(dir / "empty"), kEmpty);
  EXPECT_ERROR(sha256_file(dir / "none"), ExitCode::data, "no such file");
}

}  // namespace
}  // namespace piddm
