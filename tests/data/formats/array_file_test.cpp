#include "piddm/data/formats/array_file.h"

#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "tests/data/formats/files.h"

namespace piddm {
namespace {

using testing::data_file;
using testing::expect_near;
using testing::field;
using testing::TempDir;
using testing::write_text;

TEST(ArrayFile, NpyAndNpzAreRecognisedByTheirContent) {
  const TempDir dir;
  std::filesystem::copy(data_file("u.npy"), dir / "renamed.dat");
  const auto npy = open_array_file(dir / "renamed.dat");
  expect_near(npy->read("renamed"), field(32, {2, 16, 16}));
  const auto npz = open_array_file(data_file("pair.npz"));
  EXPECT_EQ(npz->arrays().size(), 2U);
  expect_near(npz->read("a"), field(34, {2, 16}));
}

TEST(ArrayFile, SafetensorsWithTheirTexts) {
  const TempDir dir;
  write_safetensors(dir / "x.safetensors", {{"u", torch::arange(6)}}, {{"description", "words"}});
  const auto file = open_array_file(dir / "x.safetensors");
  EXPECT_EQ(file->attributes().at("").at("description"), "words");
  EXPECT_EQ(file->arrays().at("u").dtype, torch::kInt64);
}

TEST(ArrayFile, SlicesArePartsOfTheArray) {
  const auto whole = field(32, {2, 16, 16});
  const auto file = open_array_file(data_file("u.npy"));
  expect_near(file->read("u", {{1, 1, 1}, {0, -1, 5}, {3, 4, 2}}),
              whole.slice(0, 1, 2).slice(1, 0, 16, 5).slice(2, 3, 10, 2));
  EXPECT_ERROR(file->read("u", {{0, 3, 1}, {}, {}}), ExitCode::data, "2 entries on axis 0, not 3 from 0");
  EXPECT_ERROR(file->read("u", {{}, {16, -1, 1}, {}}), ExitCode::data, "16 entries on axis 1");
  EXPECT_ERROR(file->read("u", {{}, {-1, 1, 1}, {}}), ExitCode::data, "16 entries on axis 1");
  EXPECT_ERROR(file->read("u", {{}, {}}), ExitCode::data, "has 3 axes, not 2");
}

TEST(ArrayFile, AWrongNameIsAnsweredWithTheNearest) {
  const auto file = open_array_file(data_file("diffusionpde_darcy.mat"));
  EXPECT_ERROR(file->read("tresh_a_data"), ExitCode::data, "did you mean 'thresh_a_data'?");
  EXPECT_ERROR(file->read("velocity_field"), ExitCode::data, "known: thresh_a_data, thresh_p_data");
}

TEST(ArrayFile, WhatIsNoDataFileIsRefused) {
  const TempDir dir;
  write_text(dir / "notes.txt", "hello");
  EXPECT_ERROR(open_array_file(dir / "notes.txt"), ExitCode::data, "notes.txt: neither MAT, HDF5, NPY nor NPZ");
  write_text(dir / "empty.mat", "");
  EXPECT_ERROR(open_array_file(dir / "empty.mat"), ExitCode::data, "empty.mat");
  EXPECT_ERROR(open_array_file(dir / "none.mat"), ExitCode::data, "none.mat: no such file");
}

}  // namespace
}  // namespace piddm
