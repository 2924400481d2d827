// Damaged files of every format: each is read or refused with a DataError, never a crash, a hang, or memory beyond a
// cap. The number of files is 2,000, or what the environment's PIDDM_MUTATIONS says.

#include <sys/resource.h>

#include <cstring>
#include <random>

#include "piddm/data/formats/csv.h"
#include "piddm/data/formats/hdf5.h"
#include "piddm/data/formats/mat5.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "tests/data/formats/files.h"

namespace piddm {
namespace {

using testing::data_file;
using testing::MemoryFile;
using testing::read_text;

constexpr int64_t kCapBytes = int64_t{256} << 20;

int64_t mutations() {
  const char* given = std::getenv("PIDDM_MUTATIONS");
  return given == nullptr ? 2000 : std::max<int64_t>(std::atoll(given), 1);
}

int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// The file with one to four of: bits flipped, a byte or an integer set to an awkward value, a piece cut, doubled or
/// moved, the end cut off.
std::string mutate(std::string text, uint64_t seed) {
  static constexpr uint64_t kAwkward[] = {
      0, 1, 0x7F, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 1 << 16, 200};
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % std::max<size_t>(limit, 1)); };
  for (size_t count = 1 + below(4); count > 0 && !text.empty(); --count) {
    const size_t at = below(2) == 0 ? below(text.size()) : below(std::min<size_t>(text.size(), 512));
    const size_t length = std::min<size_t>(1 + below(64), text.size() - at);
    switch (below(8)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text.replace(at, length, text.substr(below(text.size()), length));
        break;
      case 3:
        if (below(4) == 0) text.resize(at);
        break;
      case 4:
      case 5: {
        const auto value = kAwkward[below(std::size(kAwkward))];
        std::memcpy(text.data() + at, &value, std::min<size_t>(size_t{1} << below(4), text.size() - at));
        break;
      }
      default:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
    }
  }
  return text;
}

void read_all(const ArrayFile& file, size_t most) {
  for (const auto& [name, unused] : file.arrays()) {
    if (most-- == 0) return;
    file.read(name);
  }
}

struct Format {
  std::string name;
  double share;  ///< of all mutations
  std::vector<std::filesystem::path> seeds;
  std::function<void(const std::filesystem::path&)> read;
};

struct Refusals {
  int64_t all = 0, crashes = 0, limits = 0;  ///< the last two: of the HDF5 child
};

/// Reads `count` damaged versions.
Refusals refusals(const Format& format, int64_t count) {
  const MemoryFile file;
  std::vector<std::string> seeds;
  for (const auto& path : format.seeds) seeds.push_back(read_text(path));
  Refusals refused;
  for (int64_t i = 0; i < count; ++i) {
    file.set(mutate(seeds[static_cast<size_t>(i) % seeds.size()], static_cast<uint64_t>(i)));
    try {
      format.read(file.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data) << format.name << " " << i << ": " << error.what();
      EXPECT_THAT(error.what(), ::testing::HasSubstr(file.path().string())) << format.name << " " << i;
      const std::string text = error.what();
      ++refused.all;
      if (text.find("HDF5 crashed") != std::string::npos) ++refused.crashes;
      if (text.find("did not finish") != std::string::npos || text.find("than allowed") != std::string::npos)
        ++refused.limits;
    }
  }
  return refused;
}

void expect_survival(const Format& format) {
  const auto count = static_cast<int64_t>(format.share * static_cast<double>(mutations()));
  const auto before = peak_bytes();
  const auto refused = refusals(format, count);
  EXPECT_GT(refused.all, count / 20) << format.name;
  EXPECT_LT(peak_bytes() - before, kCapBytes) << format.name;
  fmt::print("{}: {} of {} damaged files refused ({} crashes and {} limits of the child)\n", format.name, refused.all,
             count, refused.crashes, refused.limits);
}

TEST(Mutations, Hdf5) {
  NEED_HDF5();
  expect_survival(
      {"hdf5",
       0.4,
       {data_file("types.h5"), data_file("pdebench_darcy.h5"), data_file("v73.mat"), data_file("pdebench_burgers.h5")},
       [](const auto& path) { read_all(*open_hdf5(path, {.wall_seconds = 1.5, .cpu_seconds = 1}), 3); }});
}

TEST(Mutations, Mat5) {
  expect_survival({"mat",
                   0.25,
                   {data_file("types.mat"), data_file("types_plain.mat"), data_file("matio_zlib.mat"),
                    data_file("fno_burgers.mat")},
                   [](const auto& path) { read_all(*open_mat5(path), 100); }});
}

TEST(Mutations, Npy) {
  expect_survival({"npy", 0.05, {data_file("u.npy")}, [](const auto& path) { read_npy(path); }});
  expect_survival({"npz", 0.1, {data_file("pair.npz")}, [](const auto& path) { read_npz(path); }});
}

TEST(Mutations, Csv) {
  expect_survival({"csv", 0.1, {data_file("pidm/p_data.csv")}, [](const auto& path) { read_csv(path); }});
}

TEST(Mutations, Safetensors) {
  const testing::TempDir dir;
  write_safetensors(dir / "x",
                    {{"u", testing::field(1, {2, 16, 16})},
                     {"a", torch::arange(40, torch::kInt32)},
                     {"m", torch::ones(7, torch::kBool)}},
                    {{"description", "{}"}});
  expect_survival({"safetensors", 0.1, {dir / "x"}, [](const auto& path) { read_safetensors(path); }});
}

}  // namespace
}  // namespace piddm
