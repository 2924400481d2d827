#pragma once
// A figure as a file (CBOR, RFC 8949), for drawing it elsewhere: numbers keep every bit, what is not finite too.

#include <filesystem>

#include "piddm/plot/figure.h"

namespace piddm {

void save_figure(const Figure& figure, const std::filesystem::path& file);

/// A DataError where it is no figure.
Figure load_figure(const std::filesystem::path& file);

}  // namespace piddm
