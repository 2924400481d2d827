#include "piddm/data/formats/export.h"

#include "piddm/data/formats/import.h"
#include "tests/data/formats/files.h"

namespace piddm {
namespace {

using testing::expect_near;
using testing::field;
using testing::TempDir;

Dataset dataset_of(const std::string& pde, const std::vector<std::string>& channels,
                   const std::vector<Tensor>& fields) {
  return {{.pde = pde, .parameters = json::object()}, channels, torch::stack(fields, 1)};
}

Dataset darcy() { return dataset_of("darcy", {"u", "a"}, {field(1, {3, 16, 16}), field(2, {3, 16, 16})}); }

Dataset burgers() {
  return dataset_of("burgers", {"u", "a"}, {field(3, {3, 16, 16}), field(4, {3, 16}).unsqueeze(2).expand({3, 16, 16})});
}

Dataset navier_stokes() {
  return dataset_of("navier-stokes", {"w", "w0", "phi"},
                    {field(5, {3, 16, 16}), field(6, {3, 16, 16}), field(7, {3}).view({3, 1, 1}).expand({3, 16, 16})});
}

Dataset import_again(const std::filesystem::path& path, const std::string& preset) {
  ImportOptions options;
  options.files = {path};
  options.preset = preset;
  options.dtype = torch::kFloat64;
  return import_dataset(options);
}

TEST(Export, EveryFormatIsReadBack) {
  NEED_HDF5();
  const TempDir dir;
  const std::vector<std::tuple<ExportFormat, std::string, std::string>> formats = {
      {ExportFormat::npz, "x.npz", ""},
      {ExportFormat::safetensors, "x.safetensors", ""},
      {ExportFormat::hdf5, "x.h5", ""},
      {ExportFormat::well, "x.hdf5", "well"}};
  for (const auto& data : {darcy(), burgers(), navier_stokes()})
    for (const auto& [format, name, preset] : formats) {
      SCOPED_TRACE(data.description.pde + " " + name);
      export_dataset(dir / name, data, format, torch::kFloat64);
      const auto back = import_again(dir / name, preset);
      EXPECT_EQ(back.channels, data.channels);
      expect_near(back.fields, data.fields, 0);
    }
}

TEST(Export, TheWellStoresConstantsAsConstants) {
  NEED_HDF5();
  const TempDir dir;
  export_dataset(dir / "n.h5", navier_stokes(), ExportFormat::well);
  const auto file = open_array_file(dir / "n.h5");
  EXPECT_EQ(file->arrays().at("t0_fields/w").shape, (std::vector<int64_t>{3, 2, 16, 16}));
  EXPECT_EQ(file->arrays().at("scalars/phi").shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(file->arrays().at("t0_fields/w").dtype, torch::kFloat32);
  EXPECT_EQ(file->attributes().at("t0_fields").at("field_names"), json({"w"}));
  export_dataset(dir / "b.h5", burgers(), ExportFormat::well);
  EXPECT_EQ(open_array_file(dir / "b.h5")->arrays().at("t0_fields/a").shape, (std::vector<int64_t>{3, 16}));
}

TEST(Export, H5pyReadsWhatWeWrite) {
  NEED_HDF5();
  const TempDir dir;
  export_dataset(dir / "darcy.h5", darcy(), ExportFormat::hdf5);
  export_dataset(dir / "darcy.npz", darcy(), ExportFormat::npz);
  export_dataset(dir / "darcy_well.h5", darcy(), ExportFormat::well);
  export_dataset(dir / "burgers_well.h5", burgers(), ExportFormat::well);
  export_dataset(dir / "ns_well.h5", navier_stokes(), ExportFormat::well);
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (std::system((python + " -c 'import numpy, h5py' >/dev/null 2>&1").c_str()) != 0) continue;
    const auto script = testing::golden("make_data_files.py").string();
    EXPECT_EQ(std::system(fmt::format("{} {} --verify {}", python, script, dir.path().string()).c_str()), 0);
    return;
  }
  GTEST_SKIP() << "no python3 with numpy and h5py";
}

TEST(Export, NamesMustFitTheFormat) {
  const TempDir dir;
  EXPECT_ERROR(export_dataset(dir / "x.h5", darcy(), ExportFormat::npz), ExitCode::usage, "must end in .npz");
}

}  // namespace
}  // namespace piddm
