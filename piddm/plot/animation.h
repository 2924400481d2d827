#pragma once
// Moving pictures as animated PNG (APNG 1.0): every browser plays them, other viewers show the first frame.

#include <string>
#include <vector>

namespace piddm {

/// One file of PNG files of the same size and type, played without end. A UsageError for no frames or frames that
/// differ, a DataError for what is not PNG.
///
/// The first frame's chunks are kept; acTL says how many frames there are, an fcTL before each how long it is shown,
/// and the IDAT of further frames become fdAT with a sequence number.
std::string animated_png(const std::vector<std::string>& frames, double seconds_per_frame);

}  // namespace piddm
