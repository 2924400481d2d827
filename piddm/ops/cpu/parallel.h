#pragma once
// How the operators hand units of work to threads.

#include <ATen/Parallel.h>

#include <algorithm>

namespace piddm::cpu {

/// f(begin, end) on every thread, consecutive units.
template <class F>
void for_units(int64_t units, const F& f) {
  at::parallel_for(0, units, 1, f);
}

/// Sums over units are formed lane by lane and the lanes added up afterwards: the number of lanes, and with it every
/// bit of the sum, depends on the number of units alone.
constexpr int64_t kMaxLanes = 32;
inline int64_t lanes_of(int64_t units) { return std::min(units, kMaxLanes); }

/// f(lane, begin, end) for every lane.
template <class F>
void for_lanes(int64_t units, const F& f) {
  const int64_t lanes = lanes_of(units);
  at::parallel_for(0, lanes, 1, [&](int64_t first, int64_t last) {
    for (int64_t lane = first; lane < last; ++lane) f(lane, lane * units / lanes, (lane + 1) * units / lanes);
  });
}

}  // namespace piddm::cpu
