#pragma once
// Reading several files of a folder that another process may replace as a whole at any moment (AtomicFolder).

#include <filesystem>

#include "piddm/core/error.h"

namespace piddm {

/// The folder that has this name now. It stays the same folder while the object lives, whatever its name leads to.
class PinnedFolder {
 public:
  explicit PinnedFolder(const std::filesystem::path& path);
  ~PinnedFolder();
  PinnedFolder(const PinnedFolder&) = delete;
  PinnedFolder& operator=(const PinnedFolder&) = delete;

  /// Whether the name leads to another folder by now, or to none.
  bool replaced() const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

namespace detail {
constexpr int kGenerations = 100;
void wait_for_generation(int number);
}  // namespace detail

/// read(), which reads files of `folder` by their names, and whose DataErrors count only if the folder was not replaced
/// meanwhile: else it reads again.
template <class F>
auto read_one_generation(const std::filesystem::path& folder, F&& read) {
  for (int number = 1;; ++number) {
    const PinnedFolder pinned(folder);
    try {
      return read();
    } catch (const DataError&) {
      if (number == detail::kGenerations || !pinned.replaced()) throw;
    }
    detail::wait_for_generation(number);
  }
}

}  // namespace piddm
