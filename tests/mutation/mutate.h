#pragma once
// Damage for files, the same for the same seed.

#include <cstdint>
#include <string>

namespace piddm::testing {

/// One to four of: bits flipped, a byte or an integer set to an awkward value, a piece cut, doubled, moved or put in,
/// the end cut off.
std::string mutate_bytes(std::string text, uint64_t seed);

/// One to three of: a key taken out, a value made awkward (huge, negative, not finite, of another type, deeply nested),
/// two values swapped. `text` is JSON.
std::string mutate_json(const std::string& text, uint64_t seed);

/// The same for texts in lines (TOML, CSV, JSON lines): a number made awkward, a line cut, doubled or moved, a sign put
/// in.
std::string mutate_lines(std::string text, uint64_t seed);

}  // namespace piddm::testing
