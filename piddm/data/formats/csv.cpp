#include "piddm/data/formats/csv.h"

#include "piddm/data/formats/csv_table.h"

namespace piddm {

Tensor read_csv(const std::filesystem::path& path) {
  const auto table = read_csv_table(path);
  return torch::tensor(table.values, torch::kFloat64).view({table.rows, table.columns});
}

}  // namespace piddm
