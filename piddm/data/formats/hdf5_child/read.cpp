#include <algorithm>

#include "piddm/data/formats/hdf5_child/commands.h"
#include "piddm/data/formats/hdf5_child/types.h"

namespace piddm::hdf5_child {

namespace {

constexpr size_t kBlock = size_t{8} << 20;

using Sizes = std::vector<hsize_t>;

struct Selection {
  Sizes first, count, stride;
};

/// How many entries of the first axis are read at a time: about kBlock bytes, and whole chunks, so that each is
/// expanded once.
hsize_t block_rows(hid_t array, const Selection& s, size_t row_bytes) {
  const hsize_t rows = std::max<hsize_t>(1, kBlock / std::max<size_t>(row_bytes, 1));
  const Handle creation(H5Dget_create_plist(array), H5Pclose, "no layout");
  Sizes chunk(s.count.size());
  if (H5Pget_layout(creation) != H5D_CHUNKED ||
      H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data()) != static_cast<int>(chunk.size()))
    return rows;
  const hsize_t per_chunk = std::max<hsize_t>(1, chunk[0] / s.stride[0]);
  return std::max<hsize_t>(1, rows / per_chunk) * per_chunk;
}

void send_blocks(hid_t array, hid_t space, const Element& element, const Selection& s) {
  size_t row_bytes = element.bytes;
  for (size_t i = 1; i < s.count.size(); ++i) row_bytes *= s.count[i];
  const hsize_t rows = block_rows(array, s, row_bytes);
  std::vector<char> buffer;
  for (hsize_t begin = 0; begin < s.count[0]; begin += rows) {
    auto first = s.first, count = s.count;
    first[0] += begin * s.stride[0];
    count[0] = std::min(rows, s.count[0] - begin);
    buffer.resize(count[0] * row_bytes);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), s.stride.data(), count.data(), nullptr),
          "impossible selection");
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose, "no memory");
    check(H5Dread(array, element.memory, memory, space, H5P_DEFAULT, buffer.data()), "cannot read the numbers");
    send(buffer.data(), buffer.size());
  }
}

/// The bytes of the selection; a Failure unless it lies inside `shape`.
uint64_t selected_bytes(const Selection& s, const Sizes& shape, size_t item_bytes) {
  if (s.first.size() != shape.size() || s.count.size() != shape.size() || s.stride.size() != shape.size())
    throw Failure("the array has another rank");
  uint64_t bytes = item_bytes;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool inside = s.count[i] >= 1 && s.stride[i] >= 1 && s.first[i] < shape[i] &&
                        (s.count[i] - 1) <= (shape[i] - 1 - s.first[i]) / s.stride[i];
    if (!inside || __builtin_mul_overflow(bytes, s.count[i], &bytes)) throw Failure("the array has another shape");
  }
  return bytes;
}

/// Numbers that lie in other files are none of this file's, whoever could read them.
void refuse_other_files(hid_t array) {
  const Handle creation(H5Dget_create_plist(array), H5Pclose, "no layout");
  if (H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL)
    throw Failure("its numbers are in another file");
}

}  // namespace

void read_array(hid_t file, const json& request) {
  const auto name = request.at("name").get<std::string>();
  const Handle array(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "no array '" + name + "'");
  const Handle type(H5Dget_type(array), H5Tclose, "no type");
  const Handle space(H5Dget_space(array), H5Sclose, "no shape");
  const auto element = element_of(type);
  if (!element) throw Failure("'" + name + "' holds no numbers");
  refuse_other_files(array);
  const Selection selection{request.at("first").get<Sizes>(), request.at("count").get<Sizes>(),
                            request.at("stride").get<Sizes>()};
  const auto bytes = selected_bytes(selection, shape_of(space), element->bytes);
  answer({{"dtype", element->code}, {"bytes", bytes}});
  if (selection.count.empty()) {
    char value[8] = {};
    check(H5Dread(array, element->memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value), "cannot read the number");
    send(value, element->bytes);
  } else {
    send_blocks(array, space, *element, selection);
  }
}

}  // namespace piddm::hdf5_child
