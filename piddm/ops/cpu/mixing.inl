// The product with one complex matrix a mode, for all samples at once. Modes come and go as [B,C,2,M]; a block of them is turned into panels
// [mode][C][(re of all samples, im of all samples)], where both real products with the matrix's real and imaginary part are one panel product.

struct MixBlock {
  int64_t first, count;
};

inline MixBlock mix_block(const Mixing& m, int64_t unit) {
  const int64_t modes = m.kept1 * m.kept2, first = unit * kModeBlock;
  return {first, smaller(kModeBlock, modes - first)};
}

/// Offset of the matrix of a kept mode in the weight.
inline int64_t weight_offset(const Mixing& m, int64_t mode) {
  return ((m.first1 + mode / m.kept2) * m.full2 + mode % m.kept2) * 2 * m.out * m.in;
}

/// Floats from one mode of a block to the next: not a power of two, or all modes would meet in one set of the cache.
inline int64_t mode_stride(const Mixing& m, int64_t channels) { return channels * padded(2 * m.batch) + kLanes; }

/// [B,C,2,M] -> [mode][C][pairs], and back. Columns behind the samples are zeros.
inline void gather_modes(const Mixing& m, const float* from, int64_t channels, MixBlock block, float* to) {
  const int64_t modes = m.kept1 * m.kept2, pairs = padded(2 * m.batch), stride = mode_stride(m, channels);
  if (pairs > 2 * m.batch) fill(to, kModeBlock * stride, 0);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t part = 0; part < 2; ++part)
      turn({from + (c * 2 + part) * modes + block.first, channels * 2 * modes}, m.batch, block.count,
           {to + c * pairs + part * m.batch, stride});
}

inline void scatter_modes(const Mixing& m, const float* from, int64_t channels, MixBlock block, float* to) {
  const int64_t modes = m.kept1 * m.kept2, pairs = padded(2 * m.batch);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t part = 0; part < 2; ++part)
      turn({from + c * pairs + part * m.batch, mode_stride(m, channels)}, block.count, m.batch,
           {to + (c * 2 + part) * modes + block.first, channels * 2 * modes});
}

/// to [rows][pairs] = (p, q are products with the real and the imaginary part) p + sign * i q
inline void combine(const float* p, const float* q, int64_t rows, int64_t batch, float sign, float* to) {
  const int64_t pairs = padded(2 * batch);
  for (int64_t r = 0; r < rows; ++r, p += pairs, q += pairs, to += pairs)
    for (int64_t b = 0; b < batch; ++b) {
      to[b] = p[b] - sign * q[batch + b];
      to[batch + b] = p[batch + b] + sign * q[b];
    }
}

/// With few samples, vectors run along the channels of the matrix instead of along the samples.
inline bool few_samples(const Mixing& m) { return 4 * m.batch <= kLanes && m.in % kLanes == 0; }

/// product [rows][pairs] = A x for few samples: sums of kLanes rows at a time, added up by a transposition.
inline void multiply_few(int64_t rows, const Mixing& m, const float* a, const float* x, float* product) {
  const int64_t pairs = padded(2 * m.batch);
  for (int64_t first = 0; first < rows; first += kLanes)
    for (int64_t k = 0; k < 2 * m.batch; ++k) {
      Vec sums[kLanes];
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r) {
        const float* row = a + smaller(first + r, rows - 1) * m.in;
        Vec sum{};
        for (int64_t c = 0; c < m.in; c += kLanes) sum += load(row + c) * load(x + k * m.in + c);
        sums[r] = sum;
      }
      transpose(sums);
      Vec total = sums[0];
#pragma GCC unroll 16
      for (int64_t r = 1; r < kLanes; ++r) total += sums[r];
      for (int64_t r = first; r < smaller(first + kLanes, rows); ++r) product[r * pairs + k] = total[r - first];
    }
}

/// product [rows][pairs] = A x, x [depth][pairs]
inline void multiply_pairs(int64_t rows, int64_t depth, Left a, const float* x, int64_t batch, float* product) {
  const int64_t pairs = padded(2 * batch);
  for (int64_t first = 0; first < 2 * batch; first += kPanel)
    multiply(rows, depth, a, {x + first, pairs}, {product + first, pairs}, vectors(2 * batch - first), false);
}

void mix(const Mixing& m, int64_t begin, int64_t end, float* memory) {
  const int64_t pairs = padded(2 * m.batch);
  const int64_t step_in = mode_stride(m, m.in), step_out = mode_stride(m, m.out);
  float *x = memory, *y = x + kModeBlock * step_in, *product = y + kModeBlock * step_out;
  float* turned = product + 2 * larger(m.in, m.out) * pairs;
  for (int64_t unit = begin; unit < end; ++unit) {
    const auto block = mix_block(m, unit);
    gather_modes(m, m.x, m.in, block, x);
    for (int64_t i = 0; i < block.count; ++i) {
      const float *weight = m.weight + weight_offset(m, block.first + i), *modes = x + i * step_in;
      if (few_samples(m)) {
        turn({modes, pairs}, m.in, 2 * m.batch, {turned, m.in});
        multiply_few(2 * m.out, m, weight, turned, product);
      } else {
        multiply_pairs(2 * m.out, m.in, {weight, m.in, 1}, modes, m.batch, product);
      }
      combine(product, product + m.out * pairs, m.out, m.batch, 1, y + i * step_out);
    }
    scatter_modes(m, y, m.out, block, m.y);
  }
}

/// dx = (conjugate transpose of the matrix) dy of one mode
inline void mix_input_gradient(const Mixing& m, const float* weight, const float* dy, float* turned, float* product,
                               float* dx) {
  const int64_t pairs = padded(2 * m.batch);
  if (few_samples(m)) {
    for (int64_t part = 0; part < 2; ++part) {
      for (int64_t first = 0; first < m.in; first += kLanes)
        multiply(2 * m.batch, m.out, {dy, 1, pairs}, {weight + part * m.out * m.in + first, m.in},
                 {turned + first, m.in}, 1, false);
      turn({turned, m.in}, 2 * m.batch, m.in, {product + part * m.in * pairs, pairs});
    }
    combine(product, product + m.in * pairs, m.in, m.batch, -1, dx);
    return;
  }
  multiply_pairs(m.in, m.out, {weight, 1, m.in}, dy, m.batch, product);
  multiply_pairs(m.in, m.out, {weight + m.out * m.in, 1, m.in}, dy, m.batch, product + m.in * pairs);
  combine(product, product + m.in * pairs, m.in, m.batch, -1, dx);
}

/// dw = sum over samples of dy conj(x)^T of one mode; turned and left: work
inline void mix_weight_gradient(const Mixing& m, const float* x, const float* dy, float* turned, float* left,
                                float* dw) {
  const int64_t pairs = padded(2 * m.batch), depth = 2 * m.batch, row = padded(m.in);
  turn({x, pairs}, m.in, depth, {turned, row});
  for (int64_t o = 0; o < m.out; ++o)
    for (int64_t b = 0; b < m.batch; ++b) {
      const float re = dy[o * pairs + b], im = dy[o * pairs + m.batch + b];
      float *real = left + o * depth, *imaginary = left + (m.out + o) * depth;
      real[b] = re, real[m.batch + b] = im;
      imaginary[b] = im, imaginary[m.batch + b] = -re;
    }
  for (int64_t first = 0; first < m.in; first += kPanel)
    multiply_to(2 * m.out, depth, {left, depth, 1}, {turned + first, row}, vectors(m.in - first),
                [=, in = m.in](int64_t r, int64_t v, Vec sum) {
                  const int64_t column = first + v * kLanes;
                  store_part(dw + r * in + column, in - column, sum);
                });
}

void mix_backward(const Mixing& m, int64_t begin, int64_t end, float* memory) {
  const int64_t pairs = padded(2 * m.batch), wide = larger(m.in, m.out);
  const int64_t step_in = mode_stride(m, m.in), step_out = mode_stride(m, m.out);
  float *x = memory, *dy = x + kModeBlock * step_in, *dx = dy + kModeBlock * step_out;
  float *product = dx + kModeBlock * step_in, *left = product + 2 * wide * pairs;
  float* turned = left + 2 * m.out * 2 * m.batch;
  fill(turned, 2 * m.batch * padded(m.in), 0);
  for (int64_t unit = begin; unit < end; ++unit) {
    const auto block = mix_block(m, unit);
    gather_modes(m, m.dy, m.out, block, dy);
    if (m.dweight != nullptr) gather_modes(m, m.x, m.in, block, x);
    for (int64_t i = 0; i < block.count; ++i) {
      const int64_t offset = weight_offset(m, block.first + i);
      const float* gradient = dy + i * step_out;
      mix_input_gradient(m, m.weight + offset, gradient, turned, product, dx + i * step_in);
      if (m.dweight != nullptr) mix_weight_gradient(m, x + i * step_in, gradient, turned, left, m.dweight + offset);
    }
    scatter_modes(m, dx, m.in, block, m.dx);
  }
}
