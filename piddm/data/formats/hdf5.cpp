#include "piddm/data/formats/hdf5.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "piddm/core/input_file.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/descriptor.h"

namespace piddm {

namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

const std::vector<std::pair<std::string, torch::ScalarType>>& codes() {
  static const std::vector<std::pair<std::string, torch::ScalarType>> list = {
      {"f4", torch::kFloat32}, {"f8", torch::kFloat64}, {"i1", torch::kInt8},  {"i2", torch::kInt16},
      {"i4", torch::kInt32},   {"i8", torch::kInt64},   {"u1", torch::kUInt8}, {"b1", torch::kBool}};
  return list;
}

[[noreturn]] void system_failure(const char* what, const std::filesystem::path& path) {
  throw ResourceError("cannot {} {}: {}", what, path.string(), std::strerror(errno));
}

class Hdf5File : public ArrayFile {
 public:
  Hdf5File(const std::filesystem::path& path, const Hdf5Limits& limits)
      : ArrayFile(path),
        limits_(limits),
        bytes_(InputFile(path).size()),
        file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        reversed_(path.extension() == ".mat") {
    if (file_.get() < 0) system_failure("open", path);
    Hdf5Process child("list", json::object(), file_.get(), -1, path.string(), limits_, 0);
    const auto answer = child.receive_answer();
    child.finish();
    const auto arrays = answer.find("arrays"), attributes = answer.find("attributes");
    require<DataError>(
        arrays != answer.end() && arrays->is_array() && attributes != answer.end() && attributes->is_object(),
        "[hdf5] {}: unexpected answer", path.string());
    for (const auto& array : *arrays) add(array);
    for (const auto& [name, values] : attributes->items()) {
      require<DataError>(values.is_object(), "[hdf5] {}: unexpected answer", path.string());
      attributes_[name] = values;
    }
  }

 protected:
  Tensor read_slices(const std::string& name, const std::vector<Slice>& slices) const override {
    auto on_disk = slices;
    if (reversed_) std::reverse(on_disk.begin(), on_disk.end());
    std::vector<int64_t> first, count, stride;
    for (const auto& slice : on_disk) {
      first.push_back(slice.first);
      count.push_back(slice.count);
      stride.push_back(slice.count == 1 ? 1 : slice.stride);
    }
    const auto dtype = arrays_.at(name).dtype;
    const auto bytes = checked_bytes(count, static_cast<int64_t>(c10::elementSize(dtype)));
    const auto subject = fmt::format("{}: array '{}'", path_.string(), name);
    require<DataError>(bytes && *bytes / kMaxExpansion <= static_cast<int64_t>(bytes_),
                       "[hdf5] {}: needs {} bytes, more than a file of {} can hold", subject, bytes.value_or(-1),
                       bytes_);
    Hdf5Process child("read", {{"name", name}, {"first", first}, {"count", count}, {"stride", stride}}, file_.get(), -1,
                      subject, limits_, *bytes);
    const auto answer = child.receive_answer();
    require<DataError>(
        answer.value("bytes", nlohmann::json()) == *bytes && answer.value("dtype", nlohmann::json()) == code_of(dtype),
        "[hdf5] {}: the file changed while it was read", subject);
    auto x = torch::empty(count, dtype);
    child.receive(x.data_ptr(), static_cast<size_t>(*bytes));
    child.finish();
    return reversed_ ? x.permute(reversed_axes(x.dim())).contiguous() : x;
  }

 private:
  static std::vector<int64_t> reversed_axes(int64_t rank) {
    std::vector<int64_t> axes;
    for (int64_t i = rank - 1; i >= 0; --i) axes.push_back(i);
    return axes;
  }

  static std::string code_of(torch::ScalarType dtype) {
    for (const auto& [code, type] : codes())
      if (type == dtype) return code;
    return "";
  }

  /// An array as the child lists it; the child has read a hostile file, so its words are checked like one.
  void add(const nlohmann::json& array) try {
    const auto code = array.value("dtype", std::string());
    const auto known = std::find_if(codes().begin(), codes().end(), [&](const auto& c) { return c.first == code; });
    const auto name = array.value("name", std::string());
    auto shape = array.value("shape", std::vector<int64_t>());
    require<DataError>(known != codes().end() && shape.size() <= 4 * kMaxRank, "[hdf5] {}: unexpected answer",
                       path_.string());
    const auto bytes = checked_bytes(shape, static_cast<int64_t>(c10::elementSize(known->second)));
    if (!bytes || shape.size() > kMaxRank) {
      refused_[name] = "of impossible size";
      return;
    }
    if (reversed_) std::reverse(shape.begin(), shape.end());
    arrays_[name] = {shape, known->second};
  } catch (const nlohmann::json::exception&) {
    throw DataError("[hdf5] {}: unexpected answer", path_.string());
  }

  Hdf5Limits limits_;
  uint64_t bytes_;
  Descriptor file_;
  bool reversed_;
};

json plan_of(const Hdf5Content& content, const std::filesystem::path& path, int64_t& bytes) {
  json arrays = json::array();
  for (const auto& [name, x] : content.arrays) {
    const auto known =
        std::find_if(codes().begin(), codes().end(), [&](const auto& c) { return c.second == x.scalar_type(); });
    require<DataError>(known != codes().end() && x.dim() >= 1 && x.dim() <= static_cast<int64_t>(kMaxRank),
                       "[hdf5] {}: array '{}' of type {} and shape {} cannot be stored", path.string(), name,
                       c10::toString(x.scalar_type()), shape_string(x));
    arrays.push_back({{"name", name}, {"dtype", known->first}, {"shape", x.sizes().vec()}});
    bytes += static_cast<int64_t>(x.nbytes());
  }
  return {{"arrays", arrays}, {"attributes", content.attributes}};
}

void copy_file(int from, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(from, &info) != 0) system_failure("write", path);
  AtomicFile out(path);
  std::vector<char> block(1 << 20);
  for (off_t at = 0; at < info.st_size;) {
    const ssize_t got = ::pread(from, block.data(), block.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) system_failure("write", path);
    out.write(block.data(), static_cast<size_t>(got));
    at += got;
  }
  out.commit();
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
  const InputFile file(path);
  std::string start(kSignature.size(), '\0');
  for (uint64_t at = 0; at + start.size() <= file.size(); at = at == 0 ? 512 : 2 * at) {
    file.read(at, start.data(), start.size());
    if (start == kSignature) return true;
  }
  return false;
}

ArrayFilePtr open_hdf5(const std::filesystem::path& path, const Hdf5Limits& limits) {
  return std::make_shared<Hdf5File>(path, limits);
}

void write_hdf5(const std::filesystem::path& path, const Hdf5Content& content, const Hdf5Limits& limits) {
  int64_t bytes = 0;
  const auto plan = plan_of(content, path, bytes).dump();
  const AtomicFolder work(path.string() + ".parts");  // never put in place, only deleted
  const Descriptor file(::open((work.path() / "file.h5").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) system_failure("write beside", path);
  const auto objects = static_cast<int64_t>(content.arrays.size() + content.attributes.size());
  const int64_t largest = bytes + static_cast<int64_t>(plan.size()) * 16 + objects * 4096 + (1 << 20);
  Hdf5Process child("write", {{"file_bytes", largest}}, -1, file.get(), path.string(), limits, bytes);
  const uint64_t length = plan.size();
  child.send(&length, sizeof(length));
  child.send(plan.data(), plan.size());
  for (const auto& [name, x] : content.arrays) {
    const auto numbers = packed(x);
    child.send(numbers.data_ptr(), numbers.nbytes());
  }
  child.receive_answer();
  child.finish();
  copy_file(file.get(), path);
}

}  // namespace piddm
