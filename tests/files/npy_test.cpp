#include "piddm/files/npy.h"

#include "piddm/files/safetensors.h"
#include "piddm/files/zip.h"
#include "tests/files/formats.h"

namespace piddm {
namespace {

using testing::example_grid;
using testing::expect_identical;
using testing::golden;
using testing::read_text;
using testing::TempDir;
using testing::write_text;

std::filesystem::path file(const std::string& name) { return golden("core_formats/" + name); }

TEST(Npy, EveryTypeIsReadAndWrittenAsNumpyDoes) {
  const TempDir dir;
  for (const auto& [name, dtype] : testing::numpy_types()) {
    const auto x = read_npy(file(name + ".npy"));
    expect_identical(x, testing::example(dtype));
    write_npy(dir / name, x);
    EXPECT_EQ(read_text(dir / name), read_text(file(name + ".npy"))) << name;
  }
}

TEST(Npy, ScalarVectorAndEmptyAreWrittenAsNumpyDoes) {
  const TempDir dir;
  for (const std::string name : {"scalar.npy", "vector.npy", "empty.npy"}) {
    write_npy(dir / name, read_npy(file(name)));
    EXPECT_EQ(read_text(dir / name), read_text(file(name))) << name;
  }
  EXPECT_EQ(read_npy(file("scalar.npy")).item<double>(), 2.5);
  EXPECT_EQ(read_npy(file("empty.npy")).sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(Npy, FortranOrderAndOtherVersionsAreReadByValue) {
  expect_identical(read_npy(file("fortran.npy")), example_grid());
  expect_identical(read_npy(file("fortran_bool.npy")), testing::example(torch::kBool));
  expect_identical(read_npy(file("version2.npy")), example_grid());
}

TEST(Npy, ForeignTypesAreRefused) {
  EXPECT_ERROR(read_npy(file("big_endian.npy")), ExitCode::data,
               "big_endian.npy: type '>f8' is not supported (big-endian)");
  EXPECT_ERROR(read_npy(file("object.npy")), ExitCode::data, "pickled objects are never read");
  EXPECT_ERROR(read_npy(file("record.npy")), ExitCode::data, "records are not supported");
  EXPECT_ERROR(read_npy(file("text.npy")), ExitCode::data, "'<U2' is not supported");
  EXPECT_ERROR(read_npy(file("complex.npy")), ExitCode::data, "'<c8' is not supported");
  EXPECT_ERROR(read_npy(file("unsigned.npy")), ExitCode::data, "'<u4' is not supported");
  const TempDir dir;
  EXPECT_ERROR(write_npy(dir / "a", torch::zeros(2, torch::kBFloat16)), ExitCode::data, "BFloat16 cannot be stored");
}

/// The message with which an NPY file of this header and so many zero bytes of data is refused; "" if it is not.
std::string npy_refusal(const std::string& dict, size_t data_bytes, char major = 1) {
  const testing::MemoryFile hostile;
  const auto length = static_cast<uint32_t>(dict.size());
  std::string bytes("\x93NUMPY");
  bytes += std::string{major, '\0'};
  bytes.append(reinterpret_cast<const char*>(&length), major == 1 ? 2 : 4);
  hostile.set(bytes + dict + std::string(data_bytes, '\0'));
  try {
    read_npy(hostile.path());
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(hostile.path().string()));
    return error.what();
  }
  return "";
}

std::string dict(const std::string& shape, const std::string& descr = "<f4") {
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", descr, shape);
}

TEST(Npy, HostileHeadersAreRefused) {
  using ::testing::HasSubstr;
  EXPECT_EQ(npy_refusal(dict("(2,)"), 8), "");
  EXPECT_EQ(npy_refusal("{\"shape\": (2, 1), \"descr\": \"<f4\", \"fortran_order\": True}", 8, 3), "");
  EXPECT_THAT(npy_refusal(dict("(2,)"), 7), HasSubstr("needs 8 bytes of data, there are 7"));
  EXPECT_THAT(npy_refusal(dict("(2,)"), 9), HasSubstr("needs 8 bytes of data, there are 9"));
  EXPECT_THAT(npy_refusal(dict("(1000000, 1000000)"), 8), HasSubstr("needs 4000000000000 bytes"));
  EXPECT_THAT(npy_refusal(dict("(4294967296, 4294967296)"), 0), HasSubstr("needs too many"));
  EXPECT_THAT(npy_refusal(dict("(0, 4294967296, 4294967296)"), 0), HasSubstr("needs too many"));
  EXPECT_THAT(npy_refusal(dict("(99999999999999999999,)"), 0), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal(dict("(-1,)"), 0), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal(dict("(1,1,1,1,1,1,1,1,1)"), 4), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal(dict("2"), 8), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal(dict("(2,)") + "x", 8), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal("{'descr': '<f4', 'shape': (2,)}", 8), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8),
              HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", 8), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal("{'descr': '<f4", 8), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal("", 8), HasSubstr("malformed"));
  EXPECT_THAT(npy_refusal(dict("(2,)") + std::string(10000, ' '), 8), HasSubstr("impossible header length"));
  EXPECT_THAT(npy_refusal(dict("(2,)"), 8, 4), HasSubstr("unknown version"));
}

TEST(Npy, EveryTruncationIsRefusedAndFlipsNeverCrash) {
  const testing::MemoryFile damaged;
  const auto whole = read_text(file("fortran.npy"));
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    damaged.set(whole.substr(0, bytes));
    EXPECT_ERROR(read_npy(damaged.path()), ExitCode::data, damaged.path().string());
  }
  int refused = 0;
  for (uint64_t k = 0; k < 1000; ++k) {
    damaged.set(testing::flip_bit(whole, k));
    try {
      EXPECT_LE(read_npy(damaged.path()).nbytes(), 192u);
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Npz, ReadsWhatNumpyAndZipWrite) {
  for (const std::string name : {"savez.npz", "savez_compressed.npz", "text.npz", "force64.npz"})
    expect_identical(read_npz(file(name)).arrays.at("u"), example_grid());
  const auto compressed = read_npz(file("savez_compressed.npz")).arrays;
  expect_identical(compressed.at("a"), testing::example(torch::kFloat32));
  expect_identical(compressed.at("big"), torch::arange(20000, torch::kInt32));
  EXPECT_EQ(read_npz(file("text.npz")).texts.at("description.json"), R"({"pde":"darcy"})");
  EXPECT_EQ(read_npz(file("constant.npz")).arrays.at("u").numel(), 1 << 13);
}

TEST(Npz, RoundTripWithTheSameBytesEachTime) {
  const TempDir dir;
  Npz npz{{{"empty", torch::zeros({0, 2})}, {"größe", torch::ones({})}}, {{"a.json", "{}"}, {"empty.txt", ""}}};
  for (const auto& [name, dtype] : testing::numpy_types()) npz.arrays[name] = testing::example(dtype);
  write_npz(dir / "a.npz", npz);
  write_npz(dir / "b.npz", npz);
  EXPECT_EQ(read_text(dir / "a.npz"), read_text(dir / "b.npz"));
  const auto read = read_npz(dir / "a.npz");
  EXPECT_EQ(read.texts, npz.texts);
  ASSERT_EQ(read.arrays.size(), npz.arrays.size());
  for (const auto& [name, x] : npz.arrays) expect_identical(read.arrays.at(name), x);
  write_npz(dir / "none.npz", {});
  EXPECT_TRUE(read_npz(dir / "none.npz").arrays.empty());
}

TEST(Npz, Zip64RecordsAreReadBack) {
  const TempDir dir;
  ZipWriter zip(dir / "a.npz", 10);  // everything of ten bytes or more in ZIP64 form
  zip.add("small.txt", "123");
  zip.add("u.npy", read_text(file("fortran.npy")));
  zip.commit();
  const auto read = read_npz(dir / "a.npz");
  EXPECT_EQ(read.texts.at("small.txt"), "123");
  expect_identical(read.arrays.at("u"), example_grid());
}

TEST(Npz, OurFilesAreReadByPython) {
  const TempDir dir;
  const std::string text = R"({"pde":"darcy"})";
  TensorMap tensors{
      {"t.BF16", testing::example(torch::kBFloat16)}, {"empty", torch::zeros({0, 4})}, {"größe", torch::tensor(1.5f)}};
  for (const auto& [name, dtype] : testing::numpy_types()) {
    tensors["t." + name] = testing::example(dtype);
    write_npy(dir / (name + ".npy"), testing::example(dtype));
  }
  write_safetensors(dir / "ours.safetensors", tensors);
  write_npz(dir / "ours.npz", {{{"u", example_grid()}}, {{"description.json", text}}});
  ZipWriter zip(dir / "ours64.npz", 10);
  zip.add("description.json", text);
  zip.add("u.npy", read_text(file("version2.npy")));
  zip.commit();
  const int status = testing::check_with_python(dir.path());
  if (status == -1) GTEST_SKIP() << "needs python3 with numpy";
  EXPECT_EQ(status, 0);
}

TEST(Npz, HostileArchivesAreRefused) {
  EXPECT_ERROR(read_npz(file("duplicate.npz")), ExitCode::data, "two members called 'u.npy'");
  EXPECT_ERROR(read_npz(file("absolute.npz")), ExitCode::data, "unsafe member name '/u.npy'");
  EXPECT_ERROR(read_npz(file("dotdot.npz")), ExitCode::data, "unsafe member name 'a/../../u.npy'");
  EXPECT_ERROR(read_npz(file("backslash.npz")), ExitCode::data, "unsafe member name");
  EXPECT_ERROR(read_npz(file("bzip2.npz")), ExitCode::data, "compression 12 is not supported");
  EXPECT_ERROR(read_npz(file("bomb.npz")), ExitCode::data, "more than 200 times its size");
  EXPECT_ERROR(read_npz(file("fortran.npy")), ExitCode::data, "no ZIP archive");
}

/// The archive with `bytes` written over at `at`, counted from the end if negative.
void expect_patch_refused(const std::string& name, int at, const std::string& bytes, const std::string& reason) {
  const TempDir dir;
  auto text = read_text(file(name));
  text.replace(at < 0 ? text.size() + static_cast<size_t>(at) : static_cast<size_t>(at), bytes.size(), bytes);
  write_text(dir / "a.npz", text);
  EXPECT_ERROR(read_npz(dir / "a.npz"), ExitCode::data, reason);
}

TEST(Npz, DamagedRecordsAreRefused) {
  const auto text = read_text(file("savez.npz"));
  const auto directory = static_cast<int>(text.find("PK\1\2")), second = static_cast<int>(text.rfind("PK\3\4"));
  expect_patch_refused("savez.npz", second - 1, "\x7f", "wrong CRC");
  expect_patch_refused("savez.npz", directory + 8, "\1", "encrypted");
  expect_patch_refused("savez.npz", directory + 24, "\1", "sizes differ");
  expect_patch_refused("savez.npz", directory + 20, std::string("\0\0\1\0\0\0\1\0", 8), "runs into");
  expect_patch_refused("savez.npz", directory + 42, "\1", "precedes the archive");
  expect_patch_refused("savez.npz", 30, "v", "differs from the directory");
  expect_patch_refused("savez.npz", -22 + 4, "\1", "several parts");
  expect_patch_refused("savez.npz", -22 + 8, std::string("\3\0\3\0", 4), "another number of members");
  expect_patch_refused("savez.npz", -22 + 16, "\1", "misplaced");
  expect_patch_refused("savez.npz", -22 + 8, "\xff\xff\xff\xff", "ZIP64");
  // Both members on the same data: how the worst bombs are made.
  const auto last = static_cast<int>(text.rfind("PK\1\2"));
  expect_patch_refused("savez.npz", last + 42, std::string(4, '\0'), "runs into");
}

TEST(Npz, DamagedCompressionIsRefused) {
  const auto data = static_cast<int>(read_text(file("text.npz")).find("u.npy")) + 5;
  expect_patch_refused("text.npz", data, "\xff\xff\xff", "damaged compressed data");
}

TEST(Npz, EveryTruncationIsRefusedAndFlipsNeverChangeTheContent) {
  const testing::MemoryFile damaged;
  for (const std::string name : {"savez.npz", "text.npz"}) {
    const auto whole = read_text(file(name));
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      damaged.set(whole.substr(0, bytes));
      EXPECT_ERROR(read_npz(damaged.path()), ExitCode::data, damaged.path().string());
    }
    int refused = 0;
    for (uint64_t k = 0; k < 1500; ++k) {
      damaged.set(testing::flip_bit(whole, k));
      try {
        expect_identical(read_npz(damaged.path()).arrays.at("u"), example_grid());
      } catch (const DataError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 1000) << name;
  }
}

}  // namespace
}  // namespace piddm
