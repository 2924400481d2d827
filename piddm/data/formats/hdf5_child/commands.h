#pragma once
// What piddm-hdf5 does for its parent. Each command answers on standard output with one line of JSON, at most
// kMaxAnswer bytes; `read` sends the raw numbers after it.

#include <nlohmann/json.hpp>

#include <cstdint>

#include "piddm/data/formats/hdf5_child/handle.h"

namespace piddm::hdf5_child {

using json = nlohmann::json;

constexpr size_t kMaxAnswer = size_t{4} << 20;
constexpr int kOutputFile = 3;  ///< descriptor of the file `write` fills

/// The file on standard input mapped into memory, so that nothing has to be opened or read once the jail is closed.
struct MappedFile {
  void* data;
  size_t bytes;
};
MappedFile map_standard_input();

/// The mapped bytes as an HDF5 file, without a copy.
Handle open_image(const MappedFile& file);

/// {"arrays": [{"name","dtype","shape"}], "attributes": {"object": {"name": value}}}: the numeric arrays below the
/// root (names without the leading slash) and the attributes of groups and arrays that have any; the root is "".
/// Followed are hard links only, MATLAB's internal groups (names that start with '#') are left out.
json list_file(hid_t file);

/// Every stride-th number from `first` on each axis, as `request` says: {"name", "first", "count", "stride"}. Answers
/// {"dtype","bytes"} and sends the numbers in C order, a few MiB at a time.
void read_array(hid_t file, const json& request);

/// Fills the open file kOutputFile from standard input: {"arrays": [{"name","dtype","shape"}], "attributes": {...}} in
/// the form of list_file, then the arrays' numbers one after the other. Groups are made where names need them.
void write_file(hid_t file, const json& plan);

// --- pipes ---
void send(const void* data, size_t bytes);
void answer(const json& message);
void receive(void* data, size_t bytes);

}  // namespace piddm::hdf5_child
