#pragma once
// Kernels of the FNO on a GPU: plain pointers to device memory. What they compute as a whole, and its formula:
// ops/fused_fno.h.
//
// Activations are [B,H,W,C], channels innermost, in the storage of the precision (bf16, else float). "words" are
// complex numbers, (re, im) pairs in that storage: rows of a plane after the transform along W are [B,H,K2,C] words,
// modes are [K1,K2,B,C] words. C is a multiple of 8 up to 128; fields and coordinates together at most 16 channels,
// outputs at most 8, hidden layers multiples of 16.
//
// Weights come as packed tiles (fragment.cuh): pack() makes them from float32 matrices.

#include <cstdint>
#include <vector>

#include "piddm/cuda/built.h"

namespace piddm::cuda {

inline constexpr int kMaxChannels = 128, kMaxInputs = 16, kMaxOutputs = 8;

inline int64_t element_bytes(Precision p) { return p == Precision::bf16 ? 2 : 4; }

/// A right factor B[k,n] = source[k stride_k + n stride_n], k < depth, n < columns, zero beyond, in tiles
/// [padded_depth/16, padded_columns/8]; `wide` and `activated` (the other factor is) as in fragment.cuh. target:
/// padded_depth padded_columns elements.
struct PackB {
  const float* source;
  void* target;
  int depth, columns, padded_depth, padded_columns;
  int64_t stride_k, stride_n;
  bool wide_k, wide_n, activated;
};
void pack(Precision precision, const std::vector<PackB>& jobs, Stream stream);

/// A left factor: source [rows, depth], both multiples of 16, natural order. target: rows depth elements.
void pack_a(Precision precision, const float* source, void* target, int rows, int depth, Stream stream);

/// Channels as the kernels see them: 16, 32, 64 or 128.
inline int padded_channels(int channels) {
  return channels <= 16 ? 16 : channels <= 32 ? 32 : channels <= 64 ? 64 : 128;
}
inline int round_up(int x, int to) { return (x + to - 1) / to * to; }

/// Transform of every row along W: words[row,k2,c] = scale sum_w e(w,k2) x[row,w,c].
struct Analysis {
  int64_t rows;
  int width, channels, kept2;
  float scale;
  const void* x;
  const void* basis;  ///< packed, depth W, columns 2 k2 + (re, im)
  void* words;
};
void analyse(Precision precision, const Analysis& a, Stream stream);

/// Transform of words along H, or back: out(j) = sum_i e(j,i) in(i) for all of B x K2 x C.
struct AlongH {
  int batch, kept2, channels, n_in, n_out;
  int64_t in_i, in_b, in_k2, out_j, out_b, out_k2;  ///< strides in words
  const void *in, *basis;
  void* out;
};
void transform(Precision precision, const AlongH& a, Stream stream);

/// out = W in for each mode, or with `adjoint` out = W^H in. weight: float32 [m1, full2, 2, out, in], row first1 the
/// first kept.
struct ModeMixing {
  int batch, inputs, outputs, kept1, kept2, first1, full2;  ///< inputs and outputs of W
  bool adjoint;
  const float* weight;
  const void* in;
  void* out;
};
void mix(Precision precision, const ModeMixing& m, Stream stream);

/// dweight = sum over samples of dy conj(x), for the kept modes.
struct ModeGradient {
  int batch, inputs, outputs, kept1, kept2, first1, full2;
  const void *x, *dy;
  float* dweight;
};
void mix_gradient(Precision precision, const ModeGradient& m, Stream stream);

/// z = synthesis(words) + S x + bias, or with `activate` S gelu(x), or with `given` x: the product was made elsewhere.
/// Where asked for, next = scale analysis of gelu(z). x and z may be the same memory.
struct LayerForward {
  int64_t rows;
  int width, channels, kept2;
  bool activate, given;
  float scale;
  const void *x, *words, *synthesis;
  const void* analysis;  ///< packed as activated
  const void* skip;      ///< packed, depth in, columns out; with `activate` as activated; `given`: null
  const float* bias;
  void *z, *next;  ///< next: null, or words
};
void layer_forward(Precision precision, const LayerForward& l, Stream stream);

/// dx = synthesis(words) + S^T dz, with `given` + dz, with `activate` times gelu'(x);  next = analysis of dx;  dskip
/// [blocks, out, in]: shares of sum dz y^T, y = x or gelu(x). dz and dx may be the same memory.
struct LayerBackward {
  int64_t rows;
  int width, channels, kept2;
  bool activate, given;
  const void *dz, *x, *words, *synthesis, *analysis;
  const void* skip;  ///< packed, depth out (natural), columns in; `given`: null
  void *dx, *next;
  float* dskip;  ///< null: not wanted, or `given`
};
int layer_backward_blocks(Precision precision, const LayerBackward& l);
void layer_backward(Precision precision, const LayerBackward& l, Stream stream);

/// Whether a row of this width fits into the shared memory of this GPU.
bool row_fits(Precision precision, int width, int channels, int kept2);
/// Whether the weights of a hidden layer do.
bool hidden_fits(Precision precision, int hidden, int channels);

/// The narrow side of lifting and projection: fields [B,count,P] and coordinates [fixed,P], as [B,P,width] in storage,
/// zero beyond; width 8 or 16.
struct Interleave {
  int batch, count, fixed, width;
  int64_t points;
  const float *fields, *coordinates;
  void* out;
};
inline int narrow_width(int channels) { return channels <= 8 ? 8 : 16; }
void interleave(Precision precision, const Interleave& i, Stream stream);

/// out[b,j] = bias[j] + sum_f weight[j stride + f] encoding(t_b)_f: the share of the times in the lifting's first layer
/// (model/fno.h). The encoding, sin and cos of 2000 t 2000^(-i/(n-1)), is computed in double.
struct TimeBias {
  int times, hidden, features;
  int64_t stride;
  const float *t, *weight, *bias;
  float* out;
};
void time_bias(const TimeBias& b, Stream stream);

/// y = w2 gelu(w1 x + bias1) + bias2 at each point: lifting. x [B,P,narrow] interleaved, y [B,P,C]. hidden: a multiple
/// of 16.
struct Lift {
  int batch, narrow, hidden, channels;
  int64_t points;
  bool bias_per_sample;  ///< bias1 [B,hidden], else [1,hidden]
  const void* x;
  const float *bias1, *bias2;
  const void *w1, *w2;  ///< packed: depth inputs, columns hidden; depth hidden, columns C (wide_n, activated)
  void* y;
};
void lift(Precision precision, const Lift& l, Stream stream);

/// The same out of the network: projection. x [B,P,C], y [B,outputs,P].
struct Project {
  int batch, hidden, channels, outputs;
  int64_t points;
  const void* x;
  const float *bias1, *bias2;
  const void *w1, *w2;  ///< packed: depth C (wide_k), columns hidden; depth hidden, columns outputs (activated)
  float* y;
};
void project(Precision precision, const Project& p, Stream stream);

/// Gradients of the two. The narrow side is the input of the lifting or dy of the projection, interleaved; the wide
/// side dy of the lifting or x of the projection.
struct MlpBackward {
  bool lifting;
  int batch, narrow, hidden, channels, inputs;  ///< narrow: its width; inputs: fields of the lifting
  int64_t points;
  bool bias_per_sample;
  const float* bias1;
  const void *narrow_side, *wide_side;            ///< [B,P,narrow], [B,P,C]
  const void* narrow_weight;                      ///< packed, columns hidden; depth inputs (w1) or outputs (w2^T)
  const void *wide_weight, *wide_weight_natural;  ///< packed, columns hidden, depth C, wide_k or not: w2^T or w1
  const void* back_weight;  ///< packed, depth hidden: columns inputs (w1) or C (w1, wide_n); only for dx
  void* dx;                 ///< float [B,inputs,P] or [B,P,C]
  /// [blocks, hidden, C] and [blocks, hidden, 16]: products of the hidden side with the wide and the narrow side.
  float *wide_sums, *narrow_sums;
  float* bias_sums;  ///< [slices, B, hidden]: sums of the gradient before the activation
};
void mlp_input_gradient(Precision precision, const MlpBackward& m, Stream stream);
int mlp_gradient_blocks(Precision precision, const MlpBackward& m);
int mlp_gradient_slices(const MlpBackward& m);
void mlp_weight_gradient(Precision precision, const MlpBackward& m, Stream stream);

}  // namespace piddm::cuda
