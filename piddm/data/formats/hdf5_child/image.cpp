#include <sys/mman.h>
#include <sys/stat.h>

#include "piddm/data/formats/hdf5_child/commands.h"

// HDF5's in-memory driver keeps a private copy of a file image unless these functions hand out the original instead.
namespace piddm::hdf5_child {

namespace {

void* give(size_t bytes, H5FD_file_image_op_t, void* file) {
  const auto& mapped = *static_cast<const MappedFile*>(file);
  return bytes <= mapped.bytes ? mapped.data : nullptr;
}
void* keep(void* target, const void*, size_t, H5FD_file_image_op_t, void*) { return target; }
void* refuse_growth(void*, size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t leave(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same(void* file) { return file; }
herr_t leave_file(void*) { return 0; }

}  // namespace

MappedFile map_standard_input() {
  struct stat info {};
  if (::fstat(0, &info) != 0 || info.st_size <= 0) throw Failure("the file is empty");
  const auto bytes = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, 0, 0);
  if (data == MAP_FAILED) throw Failure("cannot map the file");
  return {data, bytes};
}

Handle open_image(const MappedFile& file) {
  static MappedFile mapped;
  mapped = file;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "no property list");
  H5FD_file_image_callbacks_t callbacks{give, keep, refuse_growth, leave, same, leave_file, &mapped};
  check(H5Pset_fapl_core(access, 1 << 16, false), "no memory driver");
  check(H5Pset_file_image_callbacks(access, &callbacks), "no image functions");
  check(H5Pset_file_image(access, file.data, file.bytes), "no image");
  return {H5Fopen("image-of-standard-input.h5", H5F_ACC_RDONLY, access), H5Fclose, "not a readable HDF5 file"};
}

}  // namespace piddm::hdf5_child
