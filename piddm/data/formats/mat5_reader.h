#pragma once
// Variables of a MAT-file of version 5 (mat5.h has the rules), without LibTorch.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/input_file.h"
#include "piddm/files/array_layout.h"

namespace piddm {

struct Mat5Variable {
  std::string name = {};
  uint64_t begin = 0, stored_bytes = 0;  ///< of its element in the file
  bool compressed = false;
  std::string refused = {};           ///< why it cannot be read: "a cell array", "complex"; empty: it can
  std::vector<int64_t> shape = {};    ///< of MATLAB; the first axis runs fastest
  NumberType type = NumberType::f64;  ///< what its numbers are read as
  bool logical = false;
};

/// Whether these first 128 bytes are the header of such a file.
bool is_mat5_header(std::string_view start);

/// All variables in the order of the file, of headers only.
std::vector<Mat5Variable> list_mat5(const InputFile& file);

/// The numbers of a variable of list_mat5(): product(shape) times item_bytes(type) bytes.
void read_mat5_numbers(const InputFile& file, const Mat5Variable& variable, void* out);

}  // namespace piddm
