#include "piddm/data/formats/hdf5_child/types.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace piddm::hdf5_child {

namespace {

herr_t take_description(unsigned, const H5E_error2_t* error, void* text) {
  auto& reason = *static_cast<std::string*>(text);
  if (reason.empty() && error->desc != nullptr) reason = error->desc;
  return 0;
}

/// The errno that HDF5's drivers write into their descriptions ("..., errno = 28, error message = ..."), or 0.
int system_error(const std::string& reason) {
  static const std::string mark = "errno = ";
  const auto at = reason.find(mark);
  return at == std::string::npos ? 0 : std::atoi(reason.c_str() + at + mark.size());
}

}  // namespace

void fail(const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_description, &reason);
  if (const int code = system_error(reason); code != 0) {
    const bool full = code == ENOSPC || code == EDQUOT;
    throw ResourceFailure(what + ": " + std::strerror(code) +
                          (full ? "; make room there or choose another folder" : ""));
  }
  throw Failure(reason.empty() ? what : what + ": " + reason);
}

std::optional<Element> element_of(hid_t file_type) {
  const auto kind = H5Tget_class(file_type);
  const size_t bytes = H5Tget_size(file_type);
  if (kind == H5T_FLOAT && (bytes == 2 || bytes == 4)) return element_of(std::string("f4"));
  if (kind == H5T_FLOAT && bytes == 8) return element_of(std::string("f8"));
  if (kind == H5T_ENUM && bytes == 1) return element_of(std::string("i1"));
  if (kind != H5T_INTEGER || bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0) return std::nullopt;
  const bool is_unsigned = H5Tget_sign(file_type) == H5T_SGN_NONE;
  if (is_unsigned && bytes == 1) return element_of(std::string("u1"));
  return element_of("i" + std::to_string(is_unsigned && bytes < 8 ? 2 * bytes : bytes));
}

Element element_of(const std::string& code) {
  if (code == "f4") return {code, H5T_NATIVE_FLOAT, 4};
  if (code == "f8") return {code, H5T_NATIVE_DOUBLE, 8};
  if (code == "i1") return {code, H5T_NATIVE_INT8, 1};
  if (code == "i2") return {code, H5T_NATIVE_INT16, 2};
  if (code == "i4") return {code, H5T_NATIVE_INT32, 4};
  if (code == "i8") return {code, H5T_NATIVE_INT64, 8};
  if (code == "u1") return {code, H5T_NATIVE_UINT8, 1};
  throw Failure("unknown type code '" + code + "'");
}

Handle truth_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose, "cannot make a type");
  for (const signed char value : {0, 1}) H5Tenum_insert(type, value == 0 ? "FALSE" : "TRUE", &value);
  return type;
}

std::vector<hsize_t> shape_of(hid_t space) {
  const int rank = check(H5Sget_simple_extent_ndims(space), "no shape");
  std::vector<hsize_t> shape(static_cast<size_t>(rank));
  if (rank > 0) check(H5Sget_simple_extent_dims(space, shape.data(), nullptr), "no shape");
  return shape;
}

}  // namespace piddm::hdf5_child
