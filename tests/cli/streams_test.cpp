// Standard streams that are closed, full or shown on a terminal.

#include <sys/wait.h>

#include <cstdlib>

#include "piddm/data/dataset.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Workshop;

/// Exit code of the program in a shell: `arguments` may send its streams anywhere.
int in_shell(const std::string& arguments) {
  const int status = std::system(("GOMP_SPINCOUNT=3000 " PIDDM_PROGRAM " " + arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Streams : public ::testing::Test {
 protected:
  std::string out(const std::string& name) const { return (folder_ / name).string(); }

  const Workshop& shop_ = Workshop::get();
  testing::TempDir folder_;
};

TEST_F(Streams, AClosedStandardErrorDoesNotReachTheData) {
  const std::string make = "data make darcy --n 4 --grid 16 --threads 1 > /dev/null --out ";
  ASSERT_EQ(in_shell(make + out("usual.npz") + " 2> /dev/null"), 0);
  ASSERT_EQ(in_shell(make + out("closed.npz") + " 2>&-"), 0);
  ASSERT_EQ(in_shell(make + out("all.npz") + " 0<&- 1>&- 2>&-"), static_cast<int>(ExitCode::resources));
  for (const auto* name : {"closed.npz", "all.npz"})
    EXPECT_EQ(testing::read_text(out(name)), testing::read_text(out("usual.npz"))) << name;
}

TEST_F(Streams, AFullStandardErrorDoesNotStopTheWork) {
  const auto train = fmt::format("train {} --data {} --out ", shop_.config(), shop_.at("data.npz"));
  EXPECT_EQ(in_shell(train + out("run") + " > /dev/null 2> /dev/full"), 0);
  EXPECT_EQ(testing::read_text(out("run/model/model.safetensors")),
            testing::read_text(shop_ / "teacher/model/model.safetensors"));
}

TEST_F(Streams, ErrorsKeepTheirCodesWhereNobodyCanReadThem) {
  for (const auto* end : {" 2>&-", " 2> /dev/full", " 0<&- 1>&- 2>&-"}) {
    EXPECT_EQ(in_shell("data info " + out("none.npz") + end), static_cast<int>(ExitCode::data)) << end;
    EXPECT_EQ(in_shell(std::string("trian") + end), static_cast<int>(ExitCode::usage)) << end;
  }
}

TEST_F(Streams, ResultsThatCannotBeWrittenAreAFailure) {
  const auto info = "data info " + shop_.at("data.npz");
  for (const auto* end : {" >&- 2> /dev/null", " > /dev/full 2> /dev/null"})
    for (const auto& command : {info, info + " --json", std::string("--help"), std::string("--version")})
      EXPECT_EQ(in_shell(command + end), static_cast<int>(ExitCode::resources)) << command << end;
}

TEST_F(Streams, WhatAFileSaysCannotSteerATerminal) {
  auto data = load_dataset(shop_.at("data.npz"));
  data.channels[0] = "\x1b[2J\x1b]0;title\a";
  data.description.law = "\x1b[31m\xc2\x9b";
  save_dataset(out("hostile.npz"), data);
  const auto info = testing::piddm({"data", "info", out("hostile.npz")});
  EXPECT_EQ(info.code, 0) << info.err;
  const auto train = testing::piddm({"train", shop_.config(), "--data", out("hostile.npz"), "--out", out("run")});
  EXPECT_EQ(train.code, static_cast<int>(ExitCode::data));
  for (const auto& text : {info.out, train.err}) {
    EXPECT_THAT(text, ::testing::HasSubstr("1b[2J"));
    EXPECT_EQ(text.find_first_of("\x1b\a"), std::string::npos) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
  }
}

TEST_F(Streams, NamesThatAreNoUtf8AreStillJson) {
  const auto name = out("\xff.npz");
  fs::copy(shop_.at("data.npz"), name);
  const auto info = testing::only_json(testing::piddm({"data", "info", name, "--json", "--quiet"}));
  EXPECT_THAT(info.at("file").get<std::string>(), ::testing::HasSubstr(".npz"));
}

}  // namespace
}  // namespace piddm
