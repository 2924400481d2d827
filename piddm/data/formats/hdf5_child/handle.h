#pragma once
// HDF5 identifiers that close themselves, and HDF5 failures as C++ exceptions.

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace piddm::hdf5_child {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Nothing is wrong with the file: the disk is full, the system refuses something.
struct ResourceFailure : Failure {
  using Failure::Failure;
};

/// "what: reason", the reason being the innermost entry of HDF5's error stack; a ResourceFailure with the system's own
/// words where a system call failed.
[[noreturn]] void fail(const std::string& what);

/// `id` or `status` of an HDF5 call, checked.
template <class T>
T check(T result, const std::string& what) {
  if (result < 0) fail(what);
  return result;
}

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close, const std::string& what) : id_(check(id, what)), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

  /// Closes it now and says whether that worked, as the end of what was written.
  void finish(const std::string& what) { check(close_(std::exchange(id_, -1)), what); }

 private:
  hid_t id_;
  Close close_;
};

}  // namespace piddm::hdf5_child
