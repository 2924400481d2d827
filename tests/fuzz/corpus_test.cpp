// Every input of corpus/, seeds and past findings, goes to every target.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "piddm/core/error.h"
#include "tests/fuzz/targets.h"

namespace piddm::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 1;  // for an input, on one thread's clock

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_answer(const Target& target, const std::string& input, const std::string& name) {
  const double begin = thread_seconds();
  EXPECT_NO_THROW(feed(target, input)) << target.name << " " << name;
  EXPECT_LT(thread_seconds() - begin, kMostSeconds) << target.name << " " << name;
}

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, IsAnswered) {
  int64_t own = 0;
  for (const auto& entry : fs::recursive_directory_iterator(PIDDM_FUZZ_CORPUS)) {
    if (!entry.is_regular_file()) continue;
    own += entry.path().parent_path().filename() == std::string(GetParam().name);
    expect_answer(GetParam(), read(entry.path()), entry.path().string());
  }
  EXPECT_GE(own, 2) << "a target needs seeds in corpus/" << GetParam().name;
}

/// Some seed of the target is read without an error: else the target looks at nothing.
TEST_P(Corpus, HasAGoodSeed) {
  bool good = false;
  for (const auto& entry : fs::directory_iterator(fs::path(PIDDM_FUZZ_CORPUS) / GetParam().name)) try {
      GetParam().run(read(entry.path()));
      good = true;
    } catch (const Error&) {
    }
  EXPECT_TRUE(good);
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, ::testing::ValuesIn(targets()),
                         [](const auto& target) { return std::string(target.param.name); });

/// The same without files: nesting, and keys of very many parts, which once overflowed the stack.
TEST(Deep, TextsAreAnswered) {
  const auto repeated = [](const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  for (const int count : {1000, 60000, 200000}) {
    const std::string parts = repeated("a.", count) + "a";
    for (const auto& text : {parts + "=1", "[" + parts + "]\nb=1", "x = " + repeated("[", count),
                             "x = " + repeated("[", count) + repeated("]", count), "x = " + repeated("{a=", count),
                             "x." + parts + "={}\n", "x = { " + parts + " = 1 }", "[[" + parts + "]]",
                             repeated("[", count), repeated("{\"a\":", count) + "1" + repeated("}", count)})
      for (const auto& target : targets()) expect_answer(target, text, text.substr(0, 40));
  }
}

}  // namespace
}  // namespace piddm::fuzz
