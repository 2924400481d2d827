#include <algorithm>

#include "piddm/data/formats/hdf5_child/commands.h"
#include "piddm/data/formats/hdf5_child/types.h"

namespace piddm::hdf5_child {

namespace {

constexpr size_t kBlock = size_t{8} << 20;

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "cannot make a type");
  check(H5Tset_size(type, H5T_VARIABLE), "no variable length");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "no UTF-8");
  return type;
}

void write_attribute(hid_t object, const std::string& name, hid_t type, const json& value, const void* data) {
  const hsize_t entries = value.is_array() ? value.size() : 1;
  const Handle space(value.is_array() ? H5Screate_simple(1, &entries, nullptr) : H5Screate(H5S_SCALAR), H5Sclose,
                     "no space");
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         "cannot write the attribute '" + name + "'");
  if (entries > 0) check(H5Awrite(attribute, type, data), "cannot write the attribute '" + name + "'");
}

/// A text, truth value, whole number or number, or a list of one of these; an empty list is one of texts.
void write_attribute(hid_t object, const std::string& name, const json& value) {
  const json list = value.is_array() ? value : json::array({value});
  const auto all = [&](auto test) { return std::all_of(list.begin(), list.end(), test); };
  if (all([](const json& entry) { return entry.is_string(); })) {
    const auto texts = list.get<std::vector<std::string>>();
    std::vector<const char*> pointers;
    for (const auto& text : texts) pointers.push_back(text.c_str());
    write_attribute(object, name, text_type(), value, pointers.data());
  } else if (all([](const json& entry) { return entry.is_boolean(); })) {
    std::vector<int8_t> bytes;
    for (const bool entry : list) bytes.push_back(entry ? 1 : 0);
    write_attribute(object, name, truth_type(), value, bytes.data());
  } else if (all([](const json& entry) { return entry.is_number_integer(); })) {
    write_attribute(object, name, H5T_NATIVE_INT64, value, list.get<std::vector<int64_t>>().data());
  } else {
    write_attribute(object, name, H5T_NATIVE_DOUBLE, value, list.get<std::vector<double>>().data());
  }
}

void write_array(hid_t file, hid_t links, const json& plan) {
  const auto name = plan.at("name").get<std::string>(), code = plan.at("dtype").get<std::string>();
  const auto shape = plan.at("shape").get<std::vector<hsize_t>>();
  const bool truth = code == "b1";
  const Handle type = truth ? truth_type() : Handle(H5Tcopy(element_of(code).memory), H5Tclose, "no type");
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, "no space");
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "no property list");
  check(H5Pset_obj_track_times(creation, false), "no property list");
  const Handle array(H5Dcreate2(file, name.c_str(), type, space, links, creation, H5P_DEFAULT), H5Dclose,
                     "cannot make the array '" + name + "'");
  size_t row_bytes = H5Tget_size(type);
  for (size_t i = 1; i < shape.size(); ++i) row_bytes *= shape[i];
  const hsize_t rows = std::max<hsize_t>(1, kBlock / std::max<size_t>(row_bytes, 1));
  std::vector<char> buffer;
  for (hsize_t begin = 0; begin < shape.at(0); begin += rows) {
    std::vector<hsize_t> first(shape.size(), 0), count = shape;
    first[0] = begin;
    count[0] = std::min(rows, shape[0] - begin);
    buffer.resize(count[0] * row_bytes);
    receive(buffer.data(), buffer.size());
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr), "no selection");
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose, "no space");
    check(H5Dwrite(array, type, memory, space, H5P_DEFAULT, buffer.data()), "cannot write the array '" + name + "'");
  }
}

}  // namespace

void write_file(hid_t file, const json& plan) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "no property list");
  check(H5Pset_create_intermediate_group(links, 1), "no property list");
  for (const auto& array : plan.at("arrays")) write_array(file, links, array);
  for (const auto& [path, attributes] : plan.at("attributes").items()) {
    const auto name = path.empty() ? "/" : path;
    if (!path.empty() && H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0)
      Handle(H5Gcreate2(file, name.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "cannot make '" + name + "'");
    const Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose, "no object '" + name + "'");
    for (const auto& [key, value] : attributes.items()) write_attribute(object, key, value);
  }
  check(H5Fflush(file, H5F_SCOPE_LOCAL), "cannot write the file");
}

}  // namespace piddm::hdf5_child
