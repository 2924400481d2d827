#include "piddm/core/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>

namespace piddm {

namespace {

struct Range {
  uint32_t first, last;
};
constexpr std::array<Range, 6> kHidden = {{{0, 0x1f},           // control characters
                                           {0x7f, 0x9f},        // delete, more control characters
                                           {0x200b, 0x200f},    // without width, marks of direction
                                           {0x2028, 0x202e},    // separators, changes of direction
                                           {0x2066, 0x2069},    // more of them
                                           {0xd800, 0xdfff}}};  // halves of UTF-16, never UTF-8

bool shown(uint32_t sign) {
  if (sign == '\n' || sign == '\t') return true;
  return std::none_of(kHidden.begin(), kHidden.end(), [&](Range r) { return sign >= r.first && sign <= r.last; });
}

/// Bytes of the UTF-8 sequence at the start of `text` if it may be shown.
std::optional<size_t> shown_sequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t head = byte(0);
  const size_t bytes = head < 0x80 ? 1 : head >> 5 == 6 ? 2 : head >> 4 == 14 ? 3 : head >> 3 == 30 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return std::nullopt;
  uint32_t sign = bytes == 1 ? head : head & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return std::nullopt;
    sign = sign << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};  // by length: a shorter one exists below
  if (sign < kLeast[bytes] || sign > 0x10ffff || !shown(sign)) return std::nullopt;
  return bytes;
}

}  // namespace

void open_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one; standard output is opened for reading, so that writing results fails.
    const int opened = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != stream) ::close(opened);
  }
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (const auto bytes = shown_sequence(text)) {
      out += text.substr(0, *bytes);
      text.remove_prefix(*bytes);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string printable_line(std::string_view text) {
  auto out = printable(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

void say(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace piddm
