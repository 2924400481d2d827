#pragma once
// Colours of fields and curves. The maps are piecewise linear in Oklab (B. Ottosson, 2020), so equal steps of a value
// look like equal steps.

#include <cstdint>

namespace piddm {

struct Rgb {
  uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};

inline constexpr Rgb kWhite{255, 255, 255};
inline constexpr Rgb kInk{38, 42, 51};          ///< text
inline constexpr Rgb kFaintInk{112, 118, 130};  ///< secondary text
inline constexpr Rgb kSignal{255, 0, 200};      ///< non-finite values; in neither map

enum class Colors {
  sequential,  ///< dark violet over teal to light yellow; lightness grows linearly
  diverging,   ///< blue, near white in the middle, red; lightness symmetric about the middle
};

/// The colour of a value in [0,1]; values outside are clamped, non-finite ones give kSignal.
Rgb map_color(Colors colors, double value);

/// Eight well separated colours for curves; the index wraps around.
Rgb curve_color(int index);

}  // namespace piddm
