// Targets that take a file.

#include <algorithm>
#include <memory>

#include "piddm/core/error.h"
#include "piddm/data/formats/csv_table.h"
#include "piddm/data/formats/mat5_reader.h"
#include "piddm/files/npy_header.h"
#include "piddm/files/safetensors_header.h"
#include "piddm/files/zip.h"
#include "tests/fuzz/targets.h"
#include "tests/memory_file.h"

namespace piddm::fuzz {

namespace {

const std::filesystem::path& stored(std::string_view input) {
  static const testing::MemoryFile file;
  static const auto path = file.path();
  file.set(input);
  return path;
}

std::unique_ptr<char[]> room(uint64_t bytes) { return std::unique_ptr<char[]>(new char[bytes]); }

/// The header, then the data, as read_npy does.
void read_array(const ReadBytes& read, uint64_t bytes) {
  const auto header = read_npy_header(read, bytes, "f.npy");
  read(room(header.data_bytes).get(), header.data_bytes);
}

}  // namespace

void npy(std::string_view input) {
  const InputFile file(stored(input));
  uint64_t at = 0;
  const auto read = [&](void* data, size_t bytes) {
    file.read(at, data, bytes);
    at += bytes;
  };
  read_array(read, file.size());
}

void zip(std::string_view input) {
  const ZipReader zip(stored(input));
  for (const auto& member : zip.members())
    zip.read(member, [&](const ReadBytes& read) {
      if (member.name.ends_with(".npy")) read_array(read, member.bytes);
    });
}

void safetensors(std::string_view input) {
  const InputFile file(stored(input));
  const auto header = read_safetensors_header(file);
  for (const auto& entry : header.entries)
    file.read(header.data_begin + entry.begin, room(entry.end - entry.begin).get(), entry.end - entry.begin);
}

void mat5(std::string_view input) {
  const InputFile file(stored(input));
  for (const auto& variable : list_mat5(file)) {
    if (!variable.refused.empty()) continue;
    const auto bytes = checked_bytes(variable.shape, item_bytes(variable.type));
    if (!bytes) throw DataError("impossible");
    read_mat5_numbers(file, variable, room(static_cast<uint64_t>(*bytes)).get());
  }
}

void csv(std::string_view input) {
  const auto table = read_csv_table(stored(input));
  if (static_cast<int64_t>(table.values.size()) != table.rows * table.columns) std::abort();
}

}  // namespace piddm::fuzz
