#include "piddm/data/formats/export.h"

#include "piddm/data/formats/hdf5.h"
#include "piddm/data/formats/well.h"
#include "piddm/files/free_space.h"

namespace piddm {

namespace {

Hdf5Content plain_content(const Dataset& dataset, torch::ScalarType dtype) {
  Hdf5Content content;
  content.attributes[""] = {{"description", describe(dataset).dump()}};
  for (size_t c = 0; c < dataset.channels.size(); ++c)
    content.arrays.emplace_back(dataset.channels[c], dataset.fields.select(1, static_cast<int64_t>(c)).to(dtype));
  return content;
}

}  // namespace

void export_dataset(const std::filesystem::path& path, const Dataset& dataset, ExportFormat format,
                    torch::ScalarType dtype) {
  const auto extension = format == ExportFormat::npz ? ".npz" : ".safetensors";
  const bool copied = format == ExportFormat::hdf5 || format == ExportFormat::well;  // from what the child wrote
  const auto bytes = static_cast<double>(dataset.fields.numel()) * static_cast<double>(c10::elementSize(dtype));
  require_free_space(path, copied ? 2 * bytes : bytes);
  switch (format) {
    case ExportFormat::hdf5:
      return write_hdf5(path, plain_content(dataset, dtype));
    case ExportFormat::well:
      return write_hdf5(path, well_content(dataset, dtype));
    default:
      require<UsageError>(path.extension() == extension, "{}: the name must end in {}", path.string(), extension);
      return save_dataset(path, dataset, dtype);
  }
}

}  // namespace piddm
