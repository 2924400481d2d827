// Every allocation of our own parsers fails once: each must end in std::bad_alloc or in its ordinary answer.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "piddm/core/config.h"
#include "piddm/core/json_text.h"
#include "piddm/core/toml_text.h"
#include "piddm/data/formats/csv.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/manifest.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "piddm/files/sha256.h"
#include "piddm/files/zip.h"
#include "tests/testing.h"

namespace {

thread_local int64_t until_failure = 0;  // 0: none fails
thread_local bool failed = false;

void* allocate(size_t bytes) {
  if (until_failure > 0 && --until_failure == 0) {
    failed = true;
    return nullptr;
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(size_t bytes) {
  if (void* memory = allocate(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace piddm {
namespace {

using testing::TempDir;
using testing::write_text;

enum class End : int { answered = 0, refused = 1, wrong = 2, passed = 3 };

const std::string kRefused = "refused";

/// What was found; where it is an ordinary error, that. toml++ may call a number wrong that it has no memory to read.
std::string answer_of(const std::function<std::string()>& parse) {
  try {
    return parse();
  } catch (const Error&) {
    return kRefused;
  }
}

/// The k-th allocation fails, in a process of its own; its status as waitpid gives it, the exit code being an End.
int fail_one(int64_t k, const std::function<std::string()>& parse, const std::string& expected) {
  const pid_t process = ::fork();
  if (process == 0) {
    auto end = End::refused;
    until_failure = k;
    try {
      const auto found = answer_of(parse);
      if (found != kRefused) end = found == expected ? End::answered : End::wrong;
    } catch (const std::bad_alloc&) {
    }
    until_failure = 0;
    if (end != End::wrong && !failed) end = End::passed;
    ::_exit(static_cast<int>(end));
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return status;
}

/// Each allocation of `parse` fails once. It returns what it found or throws a DataError; with too little memory it
/// must do the same or throw std::bad_alloc. `may_abort`: nlohmann's JSON takes memory in its destructor, which must
/// not throw, so that a failure ends the process; never in another way than by abort().
void fail_each(const std::string& name, bool may_abort, const std::function<std::string()>& parse) {
  const auto expected = answer_of(parse);
  int64_t refused = 0, aborted = 0, k = 1;
  for (;; ++k) {
    const int status = fail_one(k, parse, expected);
    if (WIFSIGNALED(status)) {
      EXPECT_TRUE(may_abort && WTERMSIG(status) == SIGABRT) << name << ", allocation " << k << ": " << status;
      ++aborted;
      continue;
    }
    const auto end = static_cast<End>(WEXITSTATUS(status));
    EXPECT_NE(end, End::wrong) << name << ", allocation " << k;
    if (end == End::passed) break;
    refused += end == End::refused;
  }
  EXPECT_GT(refused, 0) << name;
  fmt::print("{}: {} allocations failed, {} ended in bad_alloc, {} in abort\n", name, k - 1, refused, aborted);
}

const std::string kJson = R"({"a": [1, 2.5, "a text that is longer than a short one", {"b": null}], "c": {"d": true}})";
const std::string kToml = "a = 1\n[b]\nc = \"a text that is longer than a short one\"\nd = [1, 2, 3]\n[b.e]\nf = 0.5\n";

TEST(Allocations, Texts) {
  fail_each("limits of JSON", false, [] {
    detail::JsonGuard guard("x.json", {});
    return fmt::format("{}", json::sax_parse(kJson, &guard));
  });
  fail_each("JSON", true, [] { return parse_json(kJson, "x.json").dump(); });
  fail_each("damaged JSON", true, [] { return parse_json(kJson + "}", "x.json").dump(); });
  fail_each("TOML", true, [] { return parse_toml(kToml, "x.toml").dump(); });
  fail_each("damaged TOML", true, [] { return parse_toml(kToml + "]", "x.toml").dump(); });
  fail_each("--set", true, [] {
    json config = {{"a", {{"b", 1}}}};
    apply_setting(config, "a.b=[1, 2]");
    apply_setting(config, "a.c.d=a-word-that-is-longer-than-a-short-one");
    return to_toml(config);
  });
}

TEST(Allocations, Files) {
  const TempDir dir;
  write_npz(dir / "x.npz", {{{"u", torch::zeros(3)}}, {{"description.json", "{}"}}});
  fail_each("ZIP", false, [&] {
    std::string names;
    const ZipReader zip(dir / "x.npz");
    for (const auto& member : zip.members()) names += member.name + "\n";
    return names;
  });
  write_npy(dir / "x.npy", torch::zeros(30));
  write_text(dir / "cut.npy", testing::read_text(dir / "x.npy").substr(0, 150));
  fail_each("NPY header", false, [&] { return fmt::format("{}", read_npy(dir / "cut.npy").numel()); });
  write_safetensors(dir / "x.safetensors", {{"u", torch::zeros(30)}});
  write_text(dir / "cut.safetensors", testing::read_text(dir / "x.safetensors").substr(0, 100));
  fail_each("safetensors header", true,
            [&] { return fmt::format("{}", read_safetensors(dir / "cut.safetensors").tensors.size()); });
  const std::string line = std::string(64, 'a') + "  model.safetensors\n";
  fail_each("manifest", false, [&] { return fmt::format("{}", parse_manifest(line, "manifest.sha256").size()); });
  write_text(dir / "x.csv", "1,2,3\n4,5,6\n7,8\n");
  fail_each("CSV", false, [&] { return fmt::format("{}", read_csv(dir / "x.csv").numel()); });
}

TEST(Allocations, AtomicFilesStayWhole) {
  const TempDir dir;
  write_file_atomically(dir / "a", "old");
  fail_each("atomic file", false, [&] {
    write_file_atomically(dir / "a", "new");
    return read_file(dir / "a", 100) + sha256_file(dir / "a");
  });
  EXPECT_EQ(testing::read_text(dir / "a"), "new");
  remove_stale_temporaries_of(dir / "a");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

}  // namespace
}  // namespace piddm
