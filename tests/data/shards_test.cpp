#include "piddm/data/shards.h"

#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "piddm/core/progress.h"
#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "piddm/data/spool.h"
#include "piddm/files/file_lock.h"
#include "piddm/files/npy.h"
#include "piddm/files/sha256.h"
#include "tests/data/fake_pde.h"
#include "tests/files/flips.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::FakePde;
using testing::TempDir;

class ShardsTest : public ::testing::Test {
 protected:
  void SetUp() override { set_progress_mode(ProgressMode::silent); }

  MadeFiles make(const std::string& name, int64_t shards, bool resume = false, int64_t n = 11,
                 int64_t batch = 4) const {
    return make_data_files(
        dir_ / name, pde_,
        {.range = {.seed = 3, .first = 2, .n = n, .batch = batch}, .shards = shards, .resume = resume});
  }

  TempDir dir_;
  FakePde pde_;
};

TEST_F(ShardsTest, OneFileIsTheDataSetInMemory) {
  const auto memory = make_dataset(pde_, 3, 2, 11);
  for (const std::string name : {"d.npz", "d.safetensors"}) {
    const auto made = make(name, 1);
    EXPECT_EQ(made.path, dir_ / name);
    const auto loaded = load_dataset(made.path);
    EXPECT_TRUE(loaded.fields.equal(memory.fields));
    EXPECT_EQ(loaded.description, memory.description);
    EXPECT_EQ(made.description, describe(memory));
    EXPECT_EQ(testing::read_text(dir_ / (name + ".sha256")), sha256_file(made.path) + "  " + name + "\n");
  }
  save_dataset(dir_ / "e.npz", memory);
  EXPECT_EQ(sha256_file(dir_ / "e.npz"), sha256_file(dir_ / "d.npz"));
}

TEST_F(ShardsTest, ValuesDoNotDependOnShardsOrBatches) {
  const auto memory = make_dataset(pde_, 3, 2, 11);
  for (const int64_t shards : {2, 4, 11}) {
    const auto made = make("s.npz", shards, false, 11, shards);
    EXPECT_EQ(made.path, dir_ / "s.json");
    const auto loaded = load_dataset(made.path);
    EXPECT_TRUE(loaded.fields.equal(memory.fields)) << shards;
    EXPECT_EQ(loaded.description.floor, memory.description.floor);
    EXPECT_EQ(loaded.description.more.at("shards").size(), static_cast<size_t>(shards));
    EXPECT_EQ(loaded.channels, memory.channels);
  }
  EXPECT_EQ(shard_paths("x/s.npz", 12)[4], fs::path("x/s-00005-of-00012.npz"));
  EXPECT_EQ(load_dataset(dir_ / "s-00002-of-00004.npz").description.first, 5);
}

TEST_F(ShardsTest, ResumeKeepsWhatIsFinishedAndWhole) {
  const auto first = make("s.npz", 4);
  EXPECT_EQ(first.kept, 0);
  const auto index = testing::read_text(first.path);
  EXPECT_EQ(make("s.npz", 4).kept, 0);
  EXPECT_EQ(make("s.npz", 4, true).kept, 4);
  fs::remove(dir_ / "s-00002-of-00004.npz");
  fs::remove(dir_ / "s-00003-of-00004.npz.sha256");
  auto damaged = testing::read_text(dir_ / "s-00004-of-00004.npz");
  damaged[damaged.size() / 2] ^= 1;
  testing::write_text(dir_ / "s-00004-of-00004.npz", damaged);
  EXPECT_EQ(make("s.npz", 4, true).kept, 1);
  EXPECT_EQ(testing::read_text(first.path), index);
}

TEST_F(ShardsTest, ResumeDoesNotKeepTheSamplesOfAnotherRequest) {
  make("s.npz", 2);
  const auto kept = [&](const Pde& pde, const SampleRange& range) {
    return make_data_files(dir_ / "s.npz", pde, {.range = range, .shards = 2, .resume = true}).kept;
  };
  const SampleRange same{.seed = 3, .first = 2, .n = 11};
  EXPECT_EQ(kept(pde_, same), 2);
  auto other = same;
  other.dtype = torch::kFloat64;
  EXPECT_EQ(kept(pde_, other), 0);
  other = same;
  other.seed = 4;
  EXPECT_EQ(kept(pde_, other), 0);
  EXPECT_EQ(kept(FakePde(8), other), 0);
}

TEST_F(ShardsTest, OneProcessAtATimeMakesASet) {
  const auto lock = dir_ / ".s.lock";
  {
    const auto other = FileLock::try_acquire(lock, FileLock::Afterwards::remove);
    ASSERT_TRUE(other.has_value());
    for (const int64_t shards : {1, 2})
      EXPECT_ERROR(make("s.npz", shards), ExitCode::resources,
                   "another process is making " + (dir_ / "s.npz").string());
    make("t.npz", 2);  // another name
    EXPECT_FALSE(fs::exists(dir_ / "s.npz") || fs::exists(dir_ / "s-00001-of-00002.npz"));
  }
  EXPECT_FALSE(fs::exists(lock));
  testing::write_text(lock, "");  // of a killed process
  make("s.npz", 2);
  EXPECT_FALSE(fs::exists(lock));
}

TEST_F(ShardsTest, IndexErrorsNameTheShard) {
  const auto path = make("s.npz", 2).path;
  const auto text = testing::read_text(path);
  const auto expect_refused = [&](const std::string& pointer, const json& value, const std::string& reason) {
    testing::write_text(path, text);
    testing::edit_sealed(path, [&](json& index) { index[json::json_pointer(pointer)] = value; });
    EXPECT_ERROR(load_dataset(path), ExitCode::data, reason);
  };
  expect_refused("/shards/1/sha256", "0", "s-00002-of-00002.npz: its SHA-256 is");
  expect_refused("/shards/1/n", 7, "s-00002-of-00002.npz: 5 samples, the index says 7");
  expect_refused("/shards/1/n", 0, "shards[1].n: must be at least 1, got 0");
  expect_refused("/shards/1/file", "../s.npz", "'../s.npz' is not the name of a file beside");
  expect_refused("/shards/1/fiel", "x", "did you mean 'file'");
  expect_refused("/shards/1/file", "none.npz", "none.npz: no such file");
  expect_refused("/shards/1/n", 1000000000, "s-00002-of-00002.npz: too small for the 1000000000 samples");
  expect_refused("/shards/1/n", INT64_MAX, "shards[1].n: must be at most");
  expect_refused("/shards/1/file", "s-00001-of-00002.npz", "'s-00001-of-00002.npz' is listed twice");
  expect_refused("/shards", json::array(), "no list of shards");
  expect_refused("/channels", json{"u"}, "its channels, grid or type");
  expect_refused("/n", 12, "says n = 12, the data 11");
  EXPECT_ERROR(make("s.npz", 12), ExitCode::usage, "11 samples cannot be split into 12 shards");
  EXPECT_ERROR(make("s.csv", 1), ExitCode::usage, ".npz or .safetensors");
}

TEST_F(ShardsTest, NoBitOfTheSetChangesUnnoticed) {
  for (const std::string file : {"s.npz", "t.safetensors"}) {
    const auto index = make(file, 2).path;
    const auto content = [&] {
      const auto data = load_dataset(index);
      return describe(data).dump() + std::string(bytes_of(data.fields));
    };
    testing::expect_no_silent_damage(index, content);
    testing::expect_no_silent_damage(shard_paths(dir_ / file, 2)[0], content);
  }
}

TEST_F(ShardsTest, ASetReplacedWhileItIsReadIsReadAgain) {
  const auto path = make("s.npz", 2).path;
  auto index = json::parse(testing::read_text(path));
  for (const char* key : {"format", "sha256"}) index.erase(key);
  const auto shard = dir_ / "s-00001-of-00002.npz";
  std::atomic<bool> done = false;
  std::thread writer([&] {  // a generation: the first shard under a new name, the index, and the old shard is gone
    fs::path old = shard;
    for (int i = 0; !done; ++i) {
      const auto name = fmt::format("s-{}.npz", i);
      fs::copy_file(old, dir_ / name);
      index["shards"][0]["file"] = name;
      write_shard_index(path, index);
      fs::remove(std::exchange(old, dir_ / name));
    }
  });
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(load_dataset(path));
  done = true;
  writer.join();
}

TEST_F(ShardsTest, CoefficientsAreRoundedBeforeTheSolve) {
  make("d.npz", 1);
  const auto x = load_dataset(dir_ / "d.npz").fields;
  const auto u = pde_.solve(pde_.coefficients(x).to(torch::kFloat64), {}, nullptr);
  EXPECT_TRUE(pde_.solution(x).equal(u.to(torch::kFloat32)));
}

/// Bytes of anonymous memory that this process may have from now on, on top of what it has.
void allow_memory(size_t bytes) {
  const auto status = testing::read_text("/proc/self/status");
  const auto at = status.find("VmData:");
  const auto used = std::stoull(status.substr(at + 7)) << 10;
  const rlimit limit{used + bytes, used + bytes};
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &limit), 0);
}

TEST_F(ShardsTest, AFileMayBeLargerThanMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory does not fit below the limit";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto path = dir_ / "large.npz";
  const SampleRange range{.n = 2000, .batch = 20};  // 98 MB in float32
  EXPECT_EXIT(
      {
        set_progress_mode(ProgressMode::silent);
        const FakePde pde(64);
        make_data_files(dir_ / "warm.npz", pde, {.range = {.n = 40, .batch = 20}});
        allow_memory(size_t{32} << 20);
        make_data_files(path, pde, {.range = range});
        try {
          make_dataset(pde, 0, 0, 2000, 20);
        } catch (const std::exception&) {
          std::_Exit(17);  // the same in memory does not fit
        }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(17), "");
}

TEST(Spool, GrowsAndMaps) {
  const TempDir dir;
  Tensor mapped;
  const auto x = torch::randn({5, 3, 2});
  {
    testing::write_text(dir / ".spool.0.tmp", "of a killed process");
    Spool spool(dir.path(), torch::kFloat32);
    EXPECT_ERROR(spool.map(), ExitCode::data, "empty");
    spool.append(x.narrow(0, 0, 2));
    spool.append(x.narrow(0, 2, 3).to(torch::kFloat64));
    mapped = spool.map();
    EXPECT_TRUE(fs::is_empty(dir.path()));
  }
  EXPECT_TRUE(mapped.equal(x));
  EXPECT_ERROR(Spool(dir / "none", torch::kFloat32), ExitCode::resources, "none");
}

}  // namespace
}  // namespace piddm
