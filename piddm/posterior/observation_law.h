#pragma once
// What a posterior is shown of its training samples: a random observation of each, so that one network learns to answer
// all of them.
//
//   kind     forward      the coefficients; also (4 times in 5) what initial and boundary conditions give away of u
//            inverse      the solution; also (4 times in 5) coefficients marked given_in_inverse
//            reconstruct  every field channel
//            nothing      generation
//   fields   each observed channel, independently: in full with probability `whole` (forward and inverse), else at n
//            random points, log n uniform from `fewest` to `most`, at most all of them; with probability `trace` a line
//            or the outer ring is known too, half of these times without the points
//   scalars  in forward known; else with probability 1/4
//   noise    none with probability `exact`; else one sigma for all values of fields of a case, log-uniform from
//            `low_noise` to `high_noise` standard deviations of the channel. What conditions give away and scalars
//            stay exact
//
// A sample's observation is a function of (seed, its number); made by tensor operations on the device of the samples.

#include "piddm/solve/task/target.h"

namespace piddm {

struct ObservationLaw {
  double forward = 1, inverse = 1, reconstruct = 1, nothing = 0.1;
  double whole = 0.15;
  double trace = 0.1;
  int64_t fewest = 5, most = 2000;
  double exact = 0.5;
  double low_noise = 1e-3, high_noise = 0.1;

  template <class V>
  void fields(V&& f) {
    f("forward", forward, at_least(0), "relative frequency of cases in which coefficients are known");
    f("inverse", inverse, at_least(0), "of cases in which the solution is known");
    f("reconstruct", reconstruct, at_least(0), "of cases in which something of every field is known");
    f("nothing", nothing, at_least(0), "of cases in which nothing is known");
    f("whole", whole, between(0, 1), "forward, inverse: probability that a field is known in full");
    f("trace", trace, between(0, 1), "probability that a line or the outer ring of a field is known");
    f("fewest", fewest, count_from(1), "fewest points of a field");
    f("most", most, count_from(1), "most points of a field");
    f("exact", exact, between(0, 1), "probability that the values of a case are exact");
    f("low_noise", low_noise, more_than(0), "else smallest sigma, in standard deviations of the channel");
    f("high_noise", high_noise, more_than(0), "and largest");
  }
};

/// A UsageError where numbers are out of bounds or do not go together.
void check_law(const ObservationLaw& law, const std::string& path);

/// Of samples number first.. z [B,C,H,W], network units.
Target random_observations(const ObservationLaw& law, const Pde& pde, const Tensor& z, uint64_t seed, int64_t first);

}  // namespace piddm
