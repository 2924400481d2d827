#pragma once
// The noise that tells the draws of a posterior apart, n channels [count,n,H,W] (DrawOptions in model/model.h):
//
//   smooth   e(x,y) = 1/K sum_{k,l < K} z_kl c_k c_l cos(pi k x) cos(pi l y),  z ~ N(0,1),  c_0 = 1, else sqrt(2)
//   white    N(0,1) at every point
//
// with x, y the cell centres (i+1/2)/H, (j+1/2)/W: variance 1 on average, K at most the points of an axis. Sample i is
// a function of (seed, stream, i).

#include "piddm/model/model.h"

namespace piddm {

Tensor draw_noise(const DrawOptions& options, const GridSize& grid, uint64_t seed, Stream stream, int64_t first,
                  int64_t count, torch::Device device = torch::kCPU);

}  // namespace piddm
