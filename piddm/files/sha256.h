#pragma once
// SHA-256 (FIPS 180-4), as lower-case hex.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace piddm {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(const void* data, size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }

  /// The digest of everything so far; call once, at the end.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view text);

/// Streams the file; memory does not depend on its size.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace piddm
