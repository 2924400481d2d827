#include "piddm/data/check/hypothesis.h"

#include <algorithm>
#include <cmath>

#include "piddm/data/check/knob_words.h"

namespace piddm {

namespace {

constexpr double kSameFactor = 4, kGood = 2;  // residual and boundary, each at its floor
constexpr size_t kAlternatives = 3;

bool lowered(double before, double after, double floor) {
  return before > kNearFloor * floor && after <= before / kNearFloor;
}

}  // namespace

std::optional<Reading> changed(const Reading& reading, const std::vector<Change>& changes) {
  std::optional<Reading> at = reading;
  for (const auto& change : changes)
    if (at) at = attempt(change, *at);
  return at;
}

bool close_to_floor(double before, double after, double floor) {
  return after <= kNearFloor * floor ||
         (after <= before / kNearFloor && after <= kMostLeft && after <= std::sqrt(before * floor));
}

bool explains(const Misfit& before, const Misfit& after, const Misfit& floor) {
  return after.covered >= before.covered / 2 && close_to_floor(before.residual, after.residual, floor.residual) &&
         close_to_floor(before.boundary, after.boundary, floor.boundary) &&
         (lowered(before.residual, after.residual, floor.residual) ||
          lowered(before.boundary, after.boundary, floor.boundary));
}

bool explains(double before, double after, double floor) {
  return lowered(before, after, floor) && close_to_floor(before, after, floor);
}

std::vector<Hypothesis> best_of(std::vector<Hypothesis> found) {
  double least = kGood;
  size_t fewest = 2;
  if (!found.empty())
    least = std::max(
        least, std::min_element(found.begin(), found.end(), [](auto& a, auto& b) { return a.left < b.left; })->left);
  std::erase_if(found, [&](const Hypothesis& h) { return h.left > kSameFactor * least; });
  for (const auto& h : found) fewest = std::min(fewest, h.causes.size());
  std::erase_if(found, [&](const Hypothesis& h) { return h.causes.size() > fewest; });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  if (!found.empty() && found.front().rank < kImplausible)
    std::erase_if(found, [](const Hypothesis& h) { return h.rank >= kImplausible; });
  if (found.size() > kAlternatives) found.resize(kAlternatives);
  return found;
}

}  // namespace piddm
