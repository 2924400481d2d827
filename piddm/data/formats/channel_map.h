#pragma once
// Which array of someone else's file becomes which channel: what `data import --map` and --axes say, without LibTorch.
//
// The axes of an array are named by letters: n samples, m a second sample axis (samples are numbered n-major), x, y, t,
// c anything else, 1 an axis of one entry, q a square x-y grid flattened to one axis. In the data set H is x, and W is
// t where some channel has an unpicked t, else y. Axes a channel does not have are repeated: a Burgers initial state
// "nx" fills all t, a scalar "n" a whole field. Axes other than n, m, x and W must be picked: "u[t=-1]" is the last
// frame.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace at {
class Tensor;
}

namespace piddm {

constexpr std::string_view kAxisLetters = "nmxytcq1";

struct ChannelRule {
  std::string channel;
  std::string key = {};                ///< array; empty: constant
  std::string axes = {};               ///< empty: n, nx, nxy or nxyt by rank
  std::map<char, int64_t> picks = {};  ///< index on an axis, negative from its end
  double constant = 0;
  std::function<at::Tensor(const at::Tensor&)> transform = {};  ///< of [N,M,H,W] float64, e.g. a forcing to its phase

  /// "u[t=-1] (nxyt)" or "0.785398": how descriptions show it.
  std::string text() const;
};

/// "u=sol,a=coeff[t=0],phi=0.785" (a key map) with axes "nxy" or "u=ntx,a=nx"; a UsageError names what is wrong.
std::vector<ChannelRule> parse_rules(const std::string& map, const std::string& axes);

}  // namespace piddm
