#include "piddm/files/safetensors.h"

#include "piddm/files/atomic_file.h"
#include "tests/files/flips.h"

namespace piddm {
namespace {

using testing::expect_identical;
using testing::golden;
using testing::read_text;
using testing::TempDir;

TensorMap all_types() {
  TensorMap tensors{
      {"t.BF16", testing::example(torch::kBFloat16)}, {"empty", torch::zeros({0, 4})}, {"größe", torch::tensor(1.5f)}};
  for (const auto& [name, dtype] : testing::numpy_types()) tensors["t." + name] = testing::example(dtype);
  return tensors;
}

const std::map<std::string, std::string> kMetadata{{"format", "pt"}, {"note", "größe"}};

/// A file from its header text and its data.
std::string make_file(std::string header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + std::move(header) + data;
}

/// The message with which a file of these bytes is refused; "" if it is not.
std::string refusal(const std::string& bytes) {
  const testing::MemoryFile file;
  file.set(bytes);
  try {
    read_safetensors(file.path());
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(file.path().string()));
    return error.what();
  }
  return "";
}

TEST(Safetensors, ReadsTheFileOfAnotherWriter) {
  const auto file = read_safetensors(golden("core_formats/all_types.safetensors"));
  const auto expected = all_types();
  ASSERT_EQ(file.tensors.size(), expected.size());
  for (const auto& [name, x] : expected) expect_identical(file.tensors.at(name), x);
  EXPECT_EQ(file.metadata, kMetadata);
}

TEST(Safetensors, WritesTheSameBytesAsAnotherWriter) {
  const TempDir dir;
  write_safetensors(dir / "a", all_types(), kMetadata, SafetensorsDigest::elsewhere);
  EXPECT_EQ(read_text(dir / "a"), read_text(golden("core_formats/all_types.safetensors")));
}

TEST(Safetensors, CarriesADigestThatReadersDoNotSee) {
  const TempDir dir;
  for (const auto& metadata : {kMetadata, std::map<std::string, std::string>()}) {
    write_safetensors(dir / "a", all_types(), metadata);
    EXPECT_NE(read_text(dir / "a").find("piddm.sha256"), std::string::npos);
    const auto file = read_safetensors(dir / "a");
    EXPECT_EQ(file.metadata, metadata);
    for (const auto& [name, x] : all_types()) expect_identical(file.tensors.at(name), x);
  }
}

TEST(Safetensors, NoBitChangesUnnoticed) {
  const TempDir dir;
  write_safetensors(dir / "a", all_types(), kMetadata);
  const auto content = [&] {
    const auto file = read_safetensors(dir / "a");
    std::string text;
    for (const auto& [name, x] : file.tensors)
      text +=
          fmt::format("{} {} {} ", name, c10::toString(x.scalar_type()), shape_string(x)) + std::string(bytes_of(x));
    for (const auto& key : {"format", "note"}) text += file.metadata.at(key);
    return text;
  };
  testing::expect_no_silent_damage(dir / "a", content, 1000);
}

TEST(Safetensors, StridedAndConjugateTensorsAreStoredByValue) {
  const TempDir dir;
  const auto x = torch::arange(12, torch::kFloat32).reshape({3, 4});
  const auto z = torch::complex(x, x + 1);
  write_safetensors(dir / "a", {{"t", x.t()}, {"every", x.slice(1, 0, 4, 2)}, {"imag", torch::imag(z.conj())}});
  const auto read = read_safetensors(dir / "a").tensors;
  expect_identical(read.at("t"), x.t().contiguous());
  expect_identical(read.at("every"), x.slice(1, 0, 4, 2).contiguous());
  expect_identical(read.at("imag"), -(x + 1));
}

TEST(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const TempDir dir;
  EXPECT_ERROR(write_safetensors(dir / "a", {{"z", torch::zeros(2, torch::kComplexFloat)}}), ExitCode::data,
               "view_as_real");
  EXPECT_ERROR(write_safetensors(dir / "a", {{"z", Tensor()}}), ExitCode::data, "'z' is undefined");
  EXPECT_ERROR(write_safetensors(dir / "a", {{"__metadata__", torch::zeros(2)}}), ExitCode::data, "reserved");
  EXPECT_ERROR(write_safetensors(dir / "a", {{"r", torch::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1})}}), ExitCode::data,
               "rank 9");
  EXPECT_ERROR(write_safetensors(dir / "a", {{"\xff", torch::zeros(2)}}), ExitCode::data, "UTF-8");
  EXPECT_FALSE(std::filesystem::exists(dir / "a"));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const auto whole = read_text(golden("core_formats/all_types.safetensors"));
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_NE(refusal(whole.substr(0, bytes)), "") << bytes;
  EXPECT_THAT(refusal(whole + "x"), ::testing::HasSubstr("the tensors have"));
}

TEST(Safetensors, BitFlipsOfTheHeaderNeverCrashAndNeverGrow) {
  const auto whole = read_text(golden("core_formats/all_types.safetensors"));
  const testing::MemoryFile file;
  int refused = 0;
  for (uint64_t k = 0; k < 2000; ++k) {
    file.set(testing::flip_bit(whole, k));
    try {
      uint64_t bytes = 0;
      for (const auto& [name, x] : read_safetensors(file.path()).tensors) bytes += x.nbytes();
      EXPECT_LE(bytes, whole.size());
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

struct Hostile {
  std::string name, header;
  size_t data_bytes;
  std::string reason;
};

class SafetensorsHostile : public ::testing::TestWithParam<Hostile> {};

TEST_P(SafetensorsHostile, IsRefused) {
  const auto& hostile = GetParam();
  EXPECT_THAT(refusal(make_file(hostile.header, std::string(hostile.data_bytes, '\2'))),
              ::testing::HasSubstr(hostile.reason));
}

const Hostile kHostile[] = {
    {"NotAnObject", R"([1])", 0, "does not start with"},
    {"LeadingSpace", R"( {"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, "does not start with"},
    {"NotJson", R"({"a":})", 0, "not valid JSON (byte"},
    {"NotUtf8", "{\"\xff\":1}", 0, "not valid JSON"},
    {"HugeNumber", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1e999]}})", 1, "out of range"},
    {"DuplicateName",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
     "duplicate key 'a'"},
    {"DuplicateField", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
     "duplicate key 'dtype'"},
    {"Overlap",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3,
     "tensor 'b': overlap"},
    {"SameData",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2,
     "tensor 'b': overlap"},
    {"Hole",
     R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})", 5,
     "tensor 'b': hole"},
    {"HoleAtStart", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3, "hole"},
    {"DataLeftOver", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 3, "the tensors have 2 bytes"},
    {"DataMissing", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 1, "the tensors have 2 bytes"},
    {"NoTensorsButData", R"({})", 1, "the tensors have 0 bytes"},
    {"WrongSize", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,2]}})", 2, "need 8 bytes, data_offsets give 2"},
    {"HugeShape", R"({"a":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4]}})", 4, "need 4000000000000"},
    {"OverflowingShape", R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
     "need too many"},
    {"OverflowBehindZero", R"({"a":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0,
     "need too many"},
    {"NegativeShape", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "not a size"},
    {"FractionalShape", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1, "not a size"},
    {"OffsetBeyondInt64", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551615]}})", 1,
     "not a size"},
    {"OffsetsReversed", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1, "bad data_offsets"},
    {"ThreeOffsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})", 1, "bad data_offsets"},
    {"Rank9", R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", 1, "more than 8 entries"},
    {"UnknownType", R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "'F8_E4M3' is not supported"},
    {"ComplexType", R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8, "'C64' is not supported"},
    {"ExtraField", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1, "needs exactly"},
    {"MissingField", R"({"a":{"dtype":"U8","shape":[1]}})", 1, "needs exactly"},
    {"TensorIsNumber", R"({"a":1})", 0, "needs exactly"},
    {"ShapeIsObject", R"({"a":{"dtype":"U8","shape":{},"data_offsets":[0,1]}})", 1, "is not a list"},
    {"DeepNesting", R"({"a":[[[[1]]]]})", 0, "nested deeper"},
    {"MetadataNumber", R"({"__metadata__":{"n":1}})", 0, "strings only"},
    {"MetadataList", R"({"__metadata__":[]})", 0, "strings only"},
    {"BadBool", R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 1, "neither 0 nor 1"},
};

INSTANTIATE_TEST_SUITE_P(Rules, SafetensorsHostile, ::testing::ValuesIn(kHostile),
                         [](const auto& hostile) { return hostile.param.name; });

TEST(Safetensors, HeaderLengthIsBounded) {
  const auto with_length = [](uint64_t length, size_t bytes) {
    return std::string(reinterpret_cast<const char*>(&length), 8) + std::string(bytes, ' ');
  };
  EXPECT_THAT(refusal(with_length(~uint64_t{0}, 10)), ::testing::HasSubstr("impossible header length"));
  EXPECT_THAT(refusal(with_length(11, 10)), ::testing::HasSubstr("impossible header length"));
  EXPECT_THAT(refusal(with_length(0, 10)), ::testing::HasSubstr("impossible header length"));
  EXPECT_THAT(refusal(with_length((16 << 20) + 1, (16 << 20) + 1)), ::testing::HasSubstr("impossible header length"));
}

TEST(Safetensors, NumberOfTensorsIsBounded) {
  std::string header = "{";
  for (int i = 0; i <= 65537; ++i) header += fmt::format("\"{}\":0,", i);
  header.back() = '}';
  EXPECT_THAT(refusal(make_file(header, "")), ::testing::HasSubstr("more than 65537 keys"));
}

}  // namespace
}  // namespace piddm
