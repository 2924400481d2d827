#include "piddm/files/npy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/npy_header.h"
#include "piddm/files/zip.h"

namespace piddm {

namespace {

constexpr uint64_t kMaxMemberText = uint64_t{16} << 20;
constexpr std::string_view kSuffix = ".npy";

Tensor parse_npy(const ReadBytes& read, uint64_t bytes, const std::string& origin) {
  auto header = read_npy_header(read, bytes, origin);
  auto& shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  auto x = torch::empty(shape, scalar_type(header.type));
  read(x.data_ptr(), header.data_bytes);
  require<DataError>(header.type != NumberType::boolean || valid_bools(x), "[npy] {}: a truth value is neither 0 nor 1",
                     origin);
  if (!header.fortran_order) return x;
  std::vector<int64_t> axes(shape.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(axes.size() - 1 - i);
  return x.permute(axes).contiguous();
}

std::string make_header(const Tensor& x, const std::string& origin) {
  require<DataError>(x.defined() && x.dim() <= static_cast<int64_t>(kMaxRank), "[npy] {}: undefined, or rank above {}",
                     origin, kMaxRank);
  const auto type = number_type(x.scalar_type());
  const auto text = type ? npy_header_text(*type, x.sizes().vec()) : std::nullopt;
  require<DataError>(text.has_value(), "[npy] {}: type {} cannot be stored", origin, c10::toString(x.scalar_type()));
  return *text;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  uint64_t at = 0;
  const auto read = [&](void* data, size_t bytes) {
    file.read(at, data, bytes);
    at += bytes;
  };
  return parse_npy(read, file.size(), path.string());
}

void write_npy(const std::filesystem::path& path, const Tensor& x) {
  const auto header = make_header(x, path.string());
  AtomicFile file(path);
  file.write(header);
  file.write(bytes_of(packed(x)));
  file.commit();
}

Npz read_npz(const std::filesystem::path& path) {
  const ZipReader zip(path);
  Npz npz;
  for (const auto& member : zip.members()) {
    const auto origin = fmt::format("{}: {}", path.string(), member.name);
    if (member.name.ends_with(kSuffix)) {
      auto& x = npz.arrays[member.name.substr(0, member.name.size() - kSuffix.size())];
      zip.read(member, [&](const ReadBytes& read) { x = parse_npy(read, member.bytes, origin); });
    } else {
      require<DataError>(member.bytes <= kMaxMemberText, "[npz] {}: a text of {} bytes is too long", origin,
                         member.bytes);
      std::string text(member.bytes, '\0');
      zip.read(member, [&](const ReadBytes& read) { read(text.data(), text.size()); });
      npz.texts.emplace(member.name, std::move(text));
    }
  }
  return npz;
}

void write_npz(const std::filesystem::path& path, const Npz& npz) {
  ZipWriter zip(path);
  for (const auto& [name, x] : npz.arrays) {
    const auto header = make_header(x, fmt::format("{}: {}", path.string(), name));
    zip.add(name + std::string(kSuffix), header, bytes_of(packed(x)));
  }
  for (const auto& [name, text] : npz.texts) {
    require<DataError>(!name.ends_with(kSuffix) && text.size() <= kMaxMemberText,
                       "[npz] {}: a text called '{}' of {} bytes", path.string(), name, text.size());
    zip.add(name, text);
  }
  zip.commit();
}

}  // namespace piddm
