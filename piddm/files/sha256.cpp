#include "piddm/files/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/input_file.h"

namespace piddm {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> md{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

namespace {

void check(int ok) { require<ResourceError>(ok == 1, "OpenSSL cannot compute SHA-256"); }

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(context_->md != nullptr);
  check(EVP_DigestInit_ex(context_->md.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, size_t bytes) { check(EVP_DigestUpdate(context_->md.get(), data, bytes)); }

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  check(EVP_DigestFinal_ex(context_->md.get(), digest.data(), nullptr));
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  const InputFile file(path);
  Sha256 hash;
  std::vector<char> buffer(size_t{1} << 20);
  for (uint64_t at = 0; at < file.size(); at += buffer.size()) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(buffer.size(), file.size() - at));
    file.read(at, buffer.data(), bytes);
    hash.update(buffer.data(), bytes);
  }
  return hash.hex();
}

}  // namespace piddm
