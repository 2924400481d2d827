#pragma once
// A look at the disk before hours of work.

#include <filesystem>

namespace piddm {

/// A ResourceError where `bytes` more do not fit on the disk of `path`, which need not exist.
void require_free_space(const std::filesystem::path& path, double bytes);

}  // namespace piddm
