#pragma once
// The numbers of a CSV file (csv.h has the rules), without LibTorch.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace piddm {

struct CsvTable {
  std::vector<double> values;  ///< row by row
  int64_t rows = 0, columns = 0;
};

CsvTable read_csv_table(const std::filesystem::path& path);

}  // namespace piddm
