#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "piddm/data/formats/hdf5_child/commands.h"
#include "piddm/data/formats/hdf5_child/types.h"

namespace piddm::hdf5_child {

namespace {

constexpr size_t kMaxObjects = 65536, kMaxDepth = 32, kMaxAttributes = 256, kMaxText = 64 << 10;
constexpr hssize_t kMaxEntries = 4096;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

/// One number as JSON; truth values (an enumeration of bytes) as true and false.
json parse_number(const Element& element, bool truth, const char* at) {
  const auto get = [at](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  if (truth) return get(int8_t{}) != 0;
  if (element.code == "f4") return number(get(float{}));
  if (element.code == "f8") return number(get(double{}));
  if (element.code == "i1") return get(int8_t{});
  if (element.code == "i2") return get(int16_t{});
  if (element.code == "i4") return get(int32_t{});
  if (element.code == "u1") return get(uint8_t{});
  return get(int64_t{});
}

std::vector<json> read_numbers(hid_t attribute, hid_t type, size_t entries) {
  const auto element = element_of(type);
  if (!element) return {};
  std::vector<char> bytes(entries * element->bytes);
  if (H5Aread(attribute, element->memory, bytes.data()) < 0) return {};
  std::vector<json> values;
  for (size_t i = 0; i < entries; ++i)
    values.push_back(parse_number(*element, H5Tget_class(type) == H5T_ENUM, bytes.data() + i * element->bytes));
  return values;
}

std::vector<json> read_texts(hid_t attribute, hid_t type, size_t entries) {
  std::vector<json> values;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(entries, nullptr);
    if (H5Aread(attribute, type, texts.data()) < 0) return {};
    for (const char* text : texts)
      values.emplace_back(text == nullptr ? "" : std::string(text, strnlen(text, kMaxText)));
    return values;
  }
  const size_t bytes = H5Tget_size(type);
  if (bytes == 0 || bytes > kMaxText) return {};
  std::vector<char> texts(entries * bytes);
  if (H5Aread(attribute, type, texts.data()) < 0) return {};
  for (size_t i = 0; i < entries; ++i)
    values.emplace_back(std::string(texts.data() + i * bytes, strnlen(texts.data() + i * bytes, bytes)));
  return values;
}

/// A number, text or truth value, a list of them, or null for what JSON cannot say.
json read_attribute(hid_t attribute) {
  const Handle type(H5Aget_type(attribute), H5Tclose, "attribute without a type");
  const Handle space(H5Aget_space(attribute), H5Sclose, "attribute without a shape");
  const hssize_t entries = H5Sget_simple_extent_npoints(space);
  if (entries < 0 || entries > kMaxEntries) return nullptr;
  const auto count = static_cast<size_t>(entries);
  auto values =
      H5Tget_class(type) == H5T_STRING ? read_texts(attribute, type, count) : read_numbers(attribute, type, count);
  if (values.size() != count) return nullptr;
  if (H5Sget_simple_extent_type(space) == H5S_SCALAR && count == 1) return values[0];
  return values;
}

class Lister {
 public:
  json list(hid_t file) {
    visit_group(file, "", 0);
    return {{"arrays", std::move(arrays_)}, {"attributes", std::move(attributes_)}};
  }

 private:
  static herr_t take_link(hid_t, const char* name, const H5L_info_t* info, void* list) {
    auto& names = *static_cast<std::vector<std::string>*>(list);
    if (info->type == H5L_TYPE_HARD && name[0] != '#') names.emplace_back(name);
    return names.size() > kMaxObjects ? 1 : 0;
  }

  void visit_group(hid_t group, const std::string& path, size_t depth) {
    if (depth > kMaxDepth) throw Failure("groups nested deeper than " + std::to_string(kMaxDepth));
    H5O_info_t info;
    check(H5Oget_info(group, &info), "damaged group '" + path + "'");
    if (!groups_.insert(info.addr).second) return;
    read_attributes(group, path);
    std::vector<std::string> names;
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, take_link, &names), "damaged group '" + path + "'");
    for (const auto& name : names) visit(group, name, path.empty() ? name : path + "/" + name, depth);
  }

  void visit(hid_t group, const std::string& name, const std::string& path, size_t depth) {
    if (++objects_ > kMaxObjects) throw Failure("more than " + std::to_string(kMaxObjects) + " objects");
    const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose, "damaged object '" + path + "'");
    const auto kind = H5Iget_type(object);
    if (kind == H5I_GROUP) visit_group(object, path, depth + 1);
    if (kind == H5I_DATASET) visit_array(object, path);
  }

  void visit_array(hid_t array, const std::string& path) {
    const Handle type(H5Dget_type(array), H5Tclose, "array '" + path + "' has no type");
    const Handle space(H5Dget_space(array), H5Sclose, "array '" + path + "' has no shape");
    const auto element = element_of(type);
    if (!element || H5Sget_simple_extent_type(space) == H5S_NULL) return;
    arrays_.push_back({{"name", path}, {"dtype", element->code}, {"shape", shape_of(space)}});
    read_attributes(array, path);
  }

  void read_attributes(hid_t object, const std::string& path) {
    H5O_info_t info;
    check(H5Oget_info(object, &info), "damaged object '" + path + "'");
    json values = json::object();
    for (hsize_t i = 0; i < std::min<hsize_t>(info.num_attrs, kMaxAttributes); ++i) {
      const Handle attribute(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose, "damaged attribute of '" + path + "'");
      char name[256] = {};
      check(H5Aget_name(attribute, sizeof(name), name), "damaged attribute of '" + path + "'");
      values[name] = read_attribute(attribute);
    }
    if (!values.empty()) attributes_[path] = std::move(values);
  }

  json arrays_ = json::array(), attributes_ = json::object();
  std::set<haddr_t> groups_;
  size_t objects_ = 0;
};

}  // namespace

json list_file(hid_t file) { return Lister().list(file); }

}  // namespace piddm::hdf5_child
