#include "piddm/data/formats/hdf5.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "tests/data/formats/files.h"
#include "tests/files/faults.h"

namespace piddm {
namespace {

using testing::data_file;
using testing::expect_identical;
using testing::expect_near;
using testing::field;
using testing::TempDir;
using testing::write_text;

TEST(Hdf5, EveryNumberTypeOfH5pyIsRead) {
  NEED_HDF5();
  const auto file = open_array_file(data_file("types.h5"));
  const auto whole = torch::arange(6).view({2, 3});
  const std::vector<std::pair<std::string, torch::ScalarType>> kinds = {
      {"i1", torch::kInt8},    {"u1", torch::kUInt8},   {"i2", torch::kInt16},   {"u2", torch::kInt32},
      {"i4", torch::kInt32},   {"u4", torch::kInt64},   {"i8", torch::kInt64},   {"u8", torch::kInt64},
      {"f2", torch::kFloat32}, {"f4", torch::kFloat32}, {"f8", torch::kFloat64}, {">f8", torch::kFloat64},
      {">i4", torch::kInt32}};
  for (const auto& [name, dtype] : kinds) {
    SCOPED_TRACE(name);
    expect_identical(file->read("types/" + name), whole.to(dtype));
  }
  EXPECT_TRUE(file->read("truth").equal(torch::tensor({1, 0}, torch::kInt8)));
  EXPECT_EQ(file->read("number").item<double>(), 2.5);
}

TEST(Hdf5, LinksAreNotFollowedOutOrInCircles) {
  NEED_HDF5();
  const auto file = open_array_file(data_file("types.h5"));
  for (const std::string name : {"soft", "away", "text", "complex", "empty", "loop/again/back/i1"})
    EXPECT_EQ(file->arrays().count(name), 0U) << name;
  EXPECT_EQ(file->arrays().size(), 13U + 4U);  // the types once, truth, number, zero and chunked
  EXPECT_ERROR(file->read("zero"), ExitCode::data, "'zero' has 0 entries");
}

TEST(Hdf5, AttributesOfEveryKind) {
  NEED_HDF5();
  const auto attributes = open_array_file(data_file("types.h5"))->attributes();
  const json expected = {{"name", "é"},        {"count", 3},           {"real", 0.5},           {"flag", true},
                         {"list", {1.0, 2.0}}, {"names", {"a", "bc"}}, {"flags", {true, false}}};
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(attributes.at("").at(name), value) << name;
  const auto types = attributes.contains("types") ? "types" : "loop/back";
  EXPECT_EQ(attributes.at(types).at("fixed"), "abc");
}

TEST(Hdf5, AnyPartOfAChunkedArrayIsRead) {
  NEED_HDF5();
  const auto file = open_array_file(data_file("types.h5"));
  const auto whole = field(26, {7, 9, 5});
  expect_near(file->read("chunked"), whole);
  expect_near(file->read("chunked", {{1, 3, 2}, {0, -1, 4}, {2, 1, 1}}),
              whole.slice(0, 1, 6, 2).slice(1, 0, 9, 4).slice(2, 2, 3));
}

TEST(Hdf5, MatlabFilesHaveTheirAxesInMatlabsOrder) {
  NEED_HDF5();
  const auto file = open_array_file(data_file("v73.mat"));
  EXPECT_EQ(file->arrays().size(), 2U);  // not MATLAB's own #refs#
  expect_near(file->read("thresh_a_data"), field(7, {3, 16, 16}));
  expect_near(file->read("thresh_p_data", {{1, 2, 1}, {0, -1, 3}, {}}),
              field(8, {3, 16, 16}).slice(0, 1).slice(1, 0, 16, 3));
}

TEST(Hdf5, WhatCannotBeReadSaysWhy) {
  NEED_HDF5();
  const TempDir dir;
  EXPECT_ERROR(open_array_file(data_file("filter.h5"))->read("u"), ExitCode::data, "filter.h5: array 'u': ");
  EXPECT_ERROR(open_array_file(data_file("sparse.h5"))->read("u"), ExitCode::data, "more than a file of 1400 can hold");
  const auto whole = testing::read_text(data_file("types.h5"));
  for (const std::string name : {"external", "virtual"})
    EXPECT_ERROR(open_array_file(data_file("elsewhere.h5"))->read(name), ExitCode::data,
                 "its numbers are in another file");
  write_text(dir / "cut.h5", whole.substr(0, whole.size() / 2));
  EXPECT_ERROR(open_array_file(dir / "cut.h5"), ExitCode::data, "cut.h5: not a readable HDF5 file");
}

TEST(Hdf5, ContentIsWrittenAndReadBack) {
  NEED_HDF5();
  const TempDir dir;
  Hdf5Content content;
  content.arrays = {{"g/h/u", field(1, {3, 4, 5})},
                    {"f", field(2, {6}).to(torch::kFloat32)},
                    {"i", torch::arange(4)},
                    {"mask", torch::tensor({true, false})}};
  content.attributes = {{"", {{"text", "é"}, {"count", 3}, {"none", json::array()}}},
                        {"g", {{"flags", {true, false}}, {"real", 0.5}}},
                        {"only", {{"names", {"a", "b"}}}}};
  write_hdf5(dir / "x.h5", content);
  const auto file = open_array_file(dir / "x.h5");
  expect_near(file->read("g/h/u"), field(1, {3, 4, 5}), 0);
  expect_near(file->read("f"), field(2, {6}), 1e-7);
  EXPECT_TRUE(file->read("i").equal(torch::arange(4)));
  for (const auto& [object, values] : content.attributes.items())
    EXPECT_EQ(nlohmann::json(file->attributes().at(object)), nlohmann::json(values));
  write_hdf5(dir / "y.h5", content);
  EXPECT_EQ(testing::read_text(dir / "x.h5"), testing::read_text(dir / "y.h5"));
}

TEST(Hdf5, FailingWritesLeaveNothingBehind) {
  NEED_HDF5();
  const TempDir dir;
  Hdf5Content content;
  content.arrays = {{"a", torch::zeros(4)}, {"a", torch::zeros(4)}};
  EXPECT_ERROR(write_hdf5(dir / "x.h5", content), ExitCode::data, "cannot make the array 'a'");
  content.arrays = {{"a", torch::zeros(4, torch::kComplexFloat)}};
  EXPECT_ERROR(write_hdf5(dir / "x.h5", content), ExitCode::data, "cannot be stored");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Hdf5, AFullDiskIsNoFaultOfTheData) {
  NEED_HDF5();
  const TempDir dir;
  const testing::SmallDisk disk(dir / "disk", 256);
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount";
  for (const int64_t size : {100000, 40000}) {  // the child finds the disk full, or the copy of what it wrote
    Hdf5Content content;
    content.arrays = {{"a", torch::zeros(size)}};
    EXPECT_ERROR(write_hdf5(dir / "disk/x.h5", content), ExitCode::resources, "No space left on device; make room");
    EXPECT_TRUE(std::filesystem::is_empty(dir / "disk"));
  }
}

TEST(Hdf5, SixtyThousandGroupsAreListedInLinearTime) {
  NEED_HDF5();
  const TempDir dir;
  std::map<std::string, json> attributes;
  for (int i = 0; i < 60000; ++i) attributes[fmt::format("g{}", i)] = {{"a", i}};
  write_hdf5(dir / "x.h5", {.arrays = {{"u", torch::zeros(1)}}, .attributes = json(attributes)});
  const auto before = std::clock();
  const auto file = open_array_file(dir / "x.h5");
  EXPECT_LT(std::clock() - before, 5 * CLOCKS_PER_SEC);
  EXPECT_EQ(file->attributes().size(), attributes.size());
  EXPECT_EQ(file->attributes().at("g59999"), json({{"a", 59999}}));
}

/// A program in place of piddm-hdf5.
class FakeChild {
 public:
  explicit FakeChild(const std::string& script) {
    write_text(dir_ / "child", "#!/bin/sh\n" + script + "\n");
    ::chmod((dir_ / "child").c_str(), 0755);
    ::setenv("PIDDM_HDF5_CHILD", (dir_ / "child").c_str(), 1);
  }
  ~FakeChild() { ::unsetenv("PIDDM_HDF5_CHILD"); }

 private:
  TempDir dir_;
};

TEST(Hdf5Process, WhateverTheChildDoesIsAnErrorOfTheFile) {
  const auto open = [] { open_hdf5(data_file("types.h5"), {.wall_seconds = 0.5}); };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kill -SEGV $$", "HDF5 crashed on this file (Segmentation fault)"},
      {"kill -XCPU $$", "more processor time than allowed"},
      {"exec sleep 30", "did not finish within 0.5 s"},
      {"exit 3", "ended without an answer"},
      {"echo hello", "not valid JSON"},
      {"echo []", "unexpected answer"},
      {"echo '{\"arrays\": 3, \"attributes\": {}}'", "unexpected answer"},
      {"echo '{\"arrays\": [{\"name\": 3}], \"attributes\": {}}'", "unexpected answer"},
      {"echo '{\"arrays\": [{\"name\": \"u\", \"dtype\": \"f4\", \"shape\": [\"x\"]}], \"attributes\": {}}'",
       "unexpected answer"},
      {"echo '{\"arrays\": [], \"attributes\": {\"\": 3}}'", "unexpected answer"},
      {"echo '{\"arrays\": [], \"attributes\": {}}'; echo more", "does not end where it should"},
      {"echo '{\"arrays\": [], \"attributes\": {}}'; exit 1", "does not end where it should"},
      {"yes '' | head -c 6000000 | tr '\\n' x", "too long an answer"},
      {"printf '{\"error\": \"bad\\\\nfile\"}\\n'", "bad?file"}};
  for (const auto& [script, text] : cases) {
    SCOPED_TRACE(script);
    const FakeChild child(script);
    EXPECT_ERROR(open(), ExitCode::data, text);
    EXPECT_ERROR(open(), ExitCode::data, "types.h5");
  }
}

TEST(Hdf5Process, AChildThatLiesAboutTheNumbersIsFoundOut) {
  const std::string list =
      "echo '{\"arrays\": [{\"name\": \"u\", \"dtype\": \"f4\", \"shape\": [4]}], \"attributes\": {}}'";
  const auto read = [&](const std::string& answer) {
    const FakeChild child("[ $1 = list ] && " + list + " || " + answer);
    open_hdf5(data_file("types.h5"), {.wall_seconds = 5})->read("u");
  };
  EXPECT_ERROR(read("echo '{\"dtype\": \"f4\", \"bytes\": 99}'"), ExitCode::data, "the file changed");
  EXPECT_ERROR(read("echo '{\"dtype\": \"f8\", \"bytes\": 16}'"), ExitCode::data, "the file changed");
  EXPECT_ERROR(read("echo '{\"dtype\": \"f4\", \"bytes\": 16}'"), ExitCode::data, "ended without an answer");
  EXPECT_ERROR(read("{ echo '{\"dtype\": \"f4\", \"bytes\": 16}'; echo 0123456789abcdef; }"), ExitCode::data,
               "does not end where it should");
}

TEST(Hdf5Process, AMissingChildIsNamed) {
  ::setenv("PIDDM_HDF5_CHILD", "/no/such/program", 1);
  EXPECT_ERROR(open_hdf5(data_file("types.h5")), ExitCode::resources, "PIDDM_HDF5_CHILD=/no/such/program");
  EXPECT_THAT(hdf5_support().at("error").get<std::string>(), ::testing::HasSubstr("no such program"));
  ::unsetenv("PIDDM_HDF5_CHILD");
  EXPECT_ERROR(open_hdf5(data_file("types.h5")), ExitCode::resources, "need the program piddm-hdf5");
}

/// Makes this process and its children do without these system calls; SYS_seccomp stands for prctl's way to it as well.
void forbid(std::initializer_list<unsigned> calls) {
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  if (std::find(calls.begin(), calls.end(), SYS_seccomp) != calls.end()) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3));
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(98);
}

/// What opening a file ends with in a process without these calls: its exit code, 98 where calls cannot be forbidden.
int exit_code_without(std::initializer_list<unsigned> calls) {
  const pid_t process = ::fork();
  if (process == 0) {
    forbid(calls);
    try {
      open_hdf5(data_file("types.h5"));
    } catch (const Error& error) {
      const bool told = std::string(error.what()).find("not read or written without") != std::string::npos;
      ::_exit(told ? static_cast<int>(error.code()) : 97);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Hdf5Process, NothingIsReadOutsideTheJail) {
  NEED_HDF5();
  if (exit_code_without({}) == 98) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(exit_code_without({}), 0);
  EXPECT_EQ(exit_code_without({SYS_prlimit64, SYS_setrlimit}), static_cast<int>(ExitCode::resources));
  EXPECT_EQ(exit_code_without({SYS_prctl}), static_cast<int>(ExitCode::resources));
#ifdef PIDDM_SECCOMP
  EXPECT_EQ(exit_code_without({SYS_seccomp}), static_cast<int>(ExitCode::resources));
#endif
}

TEST(Hdf5Process, LimitsOfTheChildHold) {
  NEED_HDF5();
  const auto support = hdf5_support();
  EXPECT_FALSE(support.contains("error"));
#ifdef PIDDM_SECCOMP
  EXPECT_TRUE(support.at("filtered"));
#endif
  EXPECT_ERROR(open_hdf5(data_file("types.h5"), {.memory_bytes = 1 << 12}), ExitCode::data, "types.h5");
}

}  // namespace
}  // namespace piddm
