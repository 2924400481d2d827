#pragma once
// Plain-pointer float32 kernels of the FNO on the CPU, compiled for three instruction sets. The operators that call
// them, with their formulas and gradients: ops/pointwise_mlp.h and ops/spectral_layer.h.
//
// A kernel works on a range of units (planes, blocks of modes, tiles of points) on the calling thread and needs scratch
// memory of its own; the operators hand out ranges to threads. Every result element is the sum over one unit in a fixed
// order: results do not depend on the number of threads. All matrix products are products with panels: C[rows, w] +=
// A[rows, depth] B[depth, w] with w = 1 or 2 vectors, a block of C in registers.

#include <cstdint>
#include <string>
#include <vector>

namespace piddm::cpu {

enum class SimdLevel { plain, avx2, avx512 };
inline std::vector<std::string> enum_names(SimdLevel) { return {"plain", "avx2", "avx512"}; }

/// y = w2 gelu(w1 (x; fixed) + bias1) + bias2 at each of P points.
struct Mlp {
  int64_t batch, in, fixed, hidden, out, points;
  bool bias_per_sample;  ///< bias1 is [B,hidden], else [1,hidden]
  const float *x, *coordinates, *w1, *bias1, *w2, *bias2;
};

struct MlpGradient {
  const float* dy;  ///< [B,out,P]
  float* dx;        ///< [B,in,P] or null
  float* dw1;       ///< [hidden,in+fixed], this lane's share, zeros before; null: no gradients of weights are wanted
  float* dw2;       ///< [out,hidden], likewise
  float* dbias2;    ///< [out], likewise
  float* dbias1;    ///< [units,hidden], rows of this lane's units
};

/// Kept modes k1 = lowest1 .. lowest1+kept1-1 and k2 = 0 .. kept2-1 of an H x W grid. radius = 1 + max |k1|, folded =
/// H/2+1.
struct ModeGrid {
  int64_t height, width, kept1, kept2, lowest1, radius, folded;
  const float *cos_h, *sin_h;  ///< [radius,folded]: of 2 pi r h/H; sin is 0 in columns that have no mirror image
};

/// Planes [n,H,W] -> modes [n,2,K1,K2]: (re, im) of sum x exp(-i theta) times the factor that along_w [W,2 K2] (cos,
/// then sin) holds. With `slope` (gelu'): the planes are gradients and are first multiplied by it into `through`.
struct Analysis {
  ModeGrid grid;
  const float* along_w;
  const float *planes, *slope = nullptr;
  float *through = nullptr, *modes = nullptr;
};

/// y = w x for each kept mode; modes [B,C,2,K1 K2], weights [m1,m2,2,out,in] of which row first1 is the first kept.
struct Mixing {
  int64_t batch = 0, in = 0, out = 0, kept1 = 0, kept2 = 0, first1 = 0, full2 = 0;
  const float *weight = nullptr, *x = nullptr;
  float* y = nullptr;
  const float* dy = nullptr;  ///< backward: gradient of y, and where to put those of x and weight (null: not wanted)
  float *dx = nullptr, *dweight = nullptr;
};

/// Modes [n,2,K1,K2] -> half-way to the grid: v [b][W panels][channels][2 radius][panel]; along_w [2 K2,W] holds the
/// factors.
struct Synthesis {
  ModeGrid grid;
  int64_t channels;
  const float *along_w, *modes;
  float* v;
};

/// Points within a square around one, itself included.
constexpr int64_t neighbours(int64_t reach) { return (2 * reach + 1) * (2 * reach + 1); }

/// The rest of the way, joined with the local map: z = grid values of v + w x + bias, y = gelu(z) or z. The
/// inputs of w at a point are the neighbours within `reach`, channel by channel and row by row; zero beyond the grid.
struct Finish {
  ModeGrid grid;
  int64_t in = 0, out = 0, reach = 0;
  const float* v = nullptr;
  const float* x = nullptr;       ///< [B,in,H W]
  const float* weight = nullptr;  ///< w [out,inputs()]
  const float* bias = nullptr;    ///< [out] or null
  bool activate = false;
  float *slope = nullptr, *y = nullptr;  ///< [B,out,H W]; slope: gelu'(z), null where it is not wanted
  const float* partner = nullptr;  ///< backward: [B,out,H W], the layer's input; null: the gradient of w is not wanted
  float* dskip = nullptr;          ///< [inputs(),out], += x partner^T over the points of the units

  int64_t inputs() const { return in * neighbours(reach); }
};

struct Kernels {
  SimdLevel level;
  int64_t panel;           ///< floats of a panel
  int64_t mlp_points;      ///< points of a unit of mlp_backward; those of mlp_forward are panels
  int64_t modes_per_unit;  ///< of mix and mix_backward
  int64_t rows_per_unit;   ///< folded rows of a unit of finish; its units are (sample, panel of W, block of rows)

  int64_t (*mlp_scratch)(const Mlp&);
  void (*mlp_forward)(const Mlp&, float* y, int64_t begin, int64_t end, float* scratch);
  void (*mlp_backward)(const Mlp&, const MlpGradient&, int64_t begin, int64_t end, float* scratch);

  int64_t (*spectral_scratch)(const ModeGrid&, int64_t batch, int64_t in, int64_t out, int64_t reach);
  void (*analyse)(const Analysis&, int64_t begin, int64_t end, float* scratch);
  void (*mix)(const Mixing&, int64_t begin, int64_t end, float* scratch);
  void (*mix_backward)(const Mixing&, int64_t begin, int64_t end, float* scratch);
  void (*synthesise)(const Synthesis&, int64_t begin, int64_t end, float* scratch);
  void (*finish)(const Finish&, int64_t begin, int64_t end, float* scratch);

  void (*gelu)(const float* x, float* y, float* slope, int64_t n);  ///< slope (gelu') may be null
};

std::vector<SimdLevel> supported_levels();  ///< of this CPU, ascending

/// The kernels in use: the best level of the CPU, or the one named by the environment variable PIDDM_SIMD_LEVEL, or the
/// one forced last.
const Kernels& kernels();
void force_level(SimdLevel level);  ///< refused where the CPU does not have it

/// At least `floats` floats of memory of this thread, aligned to 64 bytes; the next call reuses them.
float* scratch(int64_t floats);

const Kernels& plain_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace piddm::cpu
