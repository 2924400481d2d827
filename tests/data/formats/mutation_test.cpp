// Damaged files of every format of arrays.

#include "piddm/data/formats/csv.h"
#include "piddm/data/formats/hdf5.h"
#include "piddm/data/formats/mat5.h"
#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "tests/data/formats/files.h"
#include "tests/mutation/survival.h"

namespace piddm {
namespace {

using testing::Content;
using testing::data_file;
using testing::MemoryFile;

std::vector<std::string> texts_of(std::initializer_list<const char*> names) {
  std::vector<std::string> texts;
  for (const auto* name : names) texts.push_back(testing::read_text(data_file(name)));
  return texts;
}

/// Reads `read(path)` of a file in memory.
template <class F>
void expect_survival(const std::string& name, double share, const std::vector<std::string>& seeds, F&& read,
                     Content content = Content::bytes) {
  const MemoryFile file;
  const auto store_and_read = [&](const std::string& text) {
    file.set(text);
    try {
      read(file.path());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(file.path().string())) << name;
      throw;
    }
  };
  testing::expect_survival({name, share, seeds, content, store_and_read, true});
}

void read_all(const ArrayFile& file, size_t most) {
  for (const auto& [name, info] : file.arrays()) {
    if (most-- == 0) return;
    if (checked_bytes(info.shape, 1) != 0) file.read(name);
  }
}

TEST(Mutations, Hdf5) {
  NEED_HDF5();
  const auto read = [](const auto& path) { read_all(*open_hdf5(path, {.wall_seconds = 1.5, .cpu_seconds = 1}), 3); };
  expect_survival("hdf5", 0.02, texts_of({"pdebench_darcy.h5", "v73.mat", "pdebench_burgers.h5", "well.hdf5"}), read);
}

TEST(Mutations, Mat5) {
  expect_survival("mat", 0.1, texts_of({"types.mat", "types_plain.mat", "matio_zlib.mat", "fno_burgers.mat"}),
                  [](const auto& path) { read_all(*open_mat5(path), 100); });
}

TEST(Mutations, Npy) {
  expect_survival("npy", 0.05, texts_of({"u.npy"}), [](const auto& path) { read_npy(path); });
  expect_survival("npz", 0.1, texts_of({"pair.npz"}), [](const auto& path) { read_npz(path); });
}

TEST(Mutations, Csv) {
  expect_survival(
      "csv", 0.05, texts_of({"pidm/p_data.csv"}), [](const auto& path) { read_csv(path); }, Content::lines);
}

TEST(Mutations, Safetensors) {
  const testing::TempDir dir;
  write_safetensors(dir / "x",
                    {{"u", testing::field(1, {2, 16, 16})},
                     {"a", torch::arange(40, torch::kInt32)},
                     {"m", torch::ones(7, torch::kBool)}},
                    {{"description", "{}"}});
  expect_survival("safetensors", 0.1, {testing::read_text(dir / "x")},
                  [](const auto& path) { read_safetensors(path); });
}

}  // namespace
}  // namespace piddm
