#pragma once
// Colours of fields and curves. The hues of the maps are piecewise linear in Oklab (B. Ottosson, 2020); their lightness
// L* (CIELAB) is exactly linear in the value, so that equal steps look equal, in grey and on paper too.

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
  sequential,  ///< dark violet over teal to light yellow; L* grows linearly from 12 to 93
  diverging,   ///< blue, near white in the middle, red; L* symmetric, 96 in the middle, 28 at the ends
};

/// The colour of a value in [0,1]; values outside are clamped, non-finite ones give kSignal.
Rgb map_color(Colors colors, double value);

/// Ten colours for curves that people with any kind of colour vision tell apart; the index wraps around.
Rgb curve_color(int index);

}  // namespace piddm
