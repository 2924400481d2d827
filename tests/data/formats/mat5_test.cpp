#include "piddm/data/formats/mat5.h"

#include "tests/data/formats/files.h"

namespace piddm {
namespace {

using testing::data_file;
using testing::expect_identical;
using testing::expect_near;
using testing::field;
using testing::read_text;
using testing::TempDir;
using testing::write_text;

TEST(Mat5, EveryNumberTypeOfScipyIsRead) {
  for (const std::string name : {"types.mat", "types_plain.mat"}) {
    const auto file = open_array_file(data_file(name));
    const auto whole = torch::arange(6).view({2, 3});
    for (const std::string kind : {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"})
      EXPECT_TRUE(file->read(kind).to(torch::kInt64).equal(whole)) << name << " " << kind;
    EXPECT_EQ(file->arrays().at("uint16").dtype, torch::kInt32);
    EXPECT_EQ(file->arrays().at("uint32").dtype, torch::kInt64);
    expect_identical(file->read("single"), (whole * 2).to(torch::kFloat32));
    expect_identical(file->read("double"), (whole * 2).to(torch::kFloat64));
    expect_identical(file->read("truth"), torch::tensor({{true, false, true}}));
    expect_near(file->read("cube"), field(17, {2, 3, 4}));
    EXPECT_EQ(file->read("number").item<double>(), 2.5);
    expect_identical(file->read("whole"), torch::arange(8, torch::kFloat64).view({2, 4}));
  }
}

TEST(Mat5, FilesOfMatioAreRead) {
  for (const std::string name : {"matio_plain.mat", "matio_zlib.mat"}) {
    const auto file = open_array_file(data_file(name));
    ASSERT_EQ(file->arrays().size(), 4U);
    expect_near(file->read("cube"), field(18, {2, 3, 4}));
    expect_near(file->read("single"), field(19, {3, 2}), 1e-7);
    expect_identical(file->read("int32"), torch::arange(6, torch::kInt32).view({2, 3}));
    expect_identical(file->read("uint8"), torch::arange(4, torch::kUInt8).view({1, 4}));
  }
}

TEST(Mat5, WhatIsNoArrayOfRealNumbersIsSkippedAndNamed) {
  const auto file = open_array_file(data_file("types.mat"));
  for (const std::string name : {"complex", "text", "cell", "struct"})
    EXPECT_EQ(file->arrays().count(name), 0U) << name;
  EXPECT_ERROR(file->read("complex"), ExitCode::data, "'complex' is complex, only real numeric arrays");
  EXPECT_ERROR(file->read("cell"), ExitCode::data, "'cell' is a cell array");
  EXPECT_ERROR(file->read("struct"), ExitCode::data, "'struct' is a struct");
  EXPECT_ERROR(file->read("text"), ExitCode::data, "'text' is text");
  EXPECT_ERROR(file->read("nothing"), ExitCode::data, "'nothing' has 0 entries on axis 0");
}

/// The file with `text` in place of what is at `at`, opened and its first array read.
void read_damaged(const std::string& name, size_t at, const std::string& text) {
  const TempDir dir;
  auto bytes = read_text(data_file(name));
  bytes.replace(at, text.size(), text);
  write_text(dir / "damaged.mat", bytes);
  const auto file = open_array_file(dir / "damaged.mat");
  file->read(file->arrays().begin()->first);
}

TEST(Mat5, DamageIsNamedWithItsPlace) {
  EXPECT_ERROR(read_damaged("matio_plain.mat", 126, "MI"), ExitCode::data, "big-endian files are not supported");
  EXPECT_ERROR(read_damaged("matio_plain.mat", 124, "\x07"), ExitCode::data, "not a MAT-file of version 5");
  EXPECT_ERROR(read_damaged("matio_plain.mat", 128, "\x63"), ExitCode::data, "unknown element 99 at byte 128");
  EXPECT_ERROR(read_damaged("matio_plain.mat", 132, "\xff\xff\xff\x7f"), ExitCode::data, "the element at byte 128 has");
  EXPECT_ERROR(read_damaged("matio_plain.mat", 160, "\xff\xff\xff\x7f"), ExitCode::data, "variable at byte 136");
  EXPECT_ERROR(read_damaged("matio_plain.mat", 160, std::string("\x03\0\0\0", 4)), ExitCode::data,
               "the shape needs 288 bytes of double, there are 192");
  EXPECT_ERROR(read_damaged("matio_zlib.mat", 230, "\x55\xaa\x55\xaa"), ExitCode::data, "compressed data before byte");
}

TEST(Mat5, EveryTruncationIsRefused) {
  const TempDir dir;
  const auto whole = read_text(data_file("matio_zlib.mat"));
  const auto complete = [](const std::filesystem::path& path) {
    const auto file = open_mat5(path);
    for (const auto& [name, unused] : file->arrays()) file->read(name);
    return file->arrays().size() == 4;
  };
  for (size_t bytes = 0; bytes < whole.size(); bytes += 3) {
    write_text(dir / "cut.mat", whole.substr(0, bytes));
    try {
      EXPECT_FALSE(complete(dir / "cut.mat")) << bytes;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("cut.mat"));
    }
  }
}

}  // namespace
}  // namespace piddm
