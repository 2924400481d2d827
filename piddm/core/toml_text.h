#pragma once
// TOML text to json and back. The text may be damaged or hostile: a syntax error or a broken limit is a UsageError that
// begins with origin and line.

#include <string>

#include "piddm/core/fields.h"

namespace piddm {

constexpr size_t kMaxTomlBytes = size_t{4} << 20;
constexpr size_t kMaxKeyParts = 32;   ///< of a dotted key: a.b.c has 3
constexpr size_t kMaxTomlDepth = 64;  ///< tables and lists within each other

/// Dates and times are refused.
json parse_toml(const std::string& text, const std::string& origin);

std::string to_toml(const json& config);

}  // namespace piddm
