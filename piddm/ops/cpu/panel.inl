// Vectors, panel products and GELU. Included once per instruction set, inside its namespace, with kLanes and kRows defined before.

using Vec [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using IntVec [[gnu::vector_size(kLanes * sizeof(float))]] = int32_t;

constexpr int64_t kPanel = 2 * kLanes;

inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }

/// Coefficients of log2 of the normal distribution function at -u, u in [0,6]: minimax, relative error 1e-7 near 0 and 3e-6 at 6.
constexpr int64_t kTailDegree = 10;
constexpr float kTail[kTailDegree + 1] = {-9.999998210e-01f, -1.151112929e+00f, -4.591546158e-01f, -5.262823839e-02f,
                                          7.206065364e-03f,  -2.003261462e-04f, -1.877802094e-04f, 5.092875736e-05f,
                                          -6.757298102e-06f, 4.801459329e-07f,  -1.453761342e-08f};

inline Vec splat(float value) { return Vec{} + value; }

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t panels(int64_t columns) { return (columns + kPanel - 1) / kPanel; }
inline int64_t padded(int64_t columns) { return panels(columns) * kPanel; }
/// Vectors that the last `columns` columns need: 1 or 2.
inline int64_t vectors(int64_t columns) { return columns > kLanes ? 2 : 1; }

inline float sum_of(Vec v) {
  float sum = 0;
  for (int64_t i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
}

inline float array_sum(const float* x, int64_t n) {
  Vec sum{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) sum += load(x + i);
  float total = sum_of(sum);
  for (; i < n; ++i) total += x[i];
  return total;
}

/// The left factor: entry (row, k) at data[row * row_stride + k * k_stride].
struct Left {
  const float* data;
  int64_t row_stride, k_stride;
};

/// A right factor or a result, rows of a panel.
template <class T>
struct Rows {
  T* data;
  int64_t stride;
};

template <int64_t kCount, int64_t kVectors>
[[gnu::always_inline]] inline void multiply_rows(int64_t depth, Left a, Rows<const float> b, Rows<float> c,
                                                 bool accumulate) {
  Vec sum[kCount][kVectors] = {};
  const float *left = a.data, *right = b.data;
  for (int64_t k = 0; k < depth; ++k, left += a.k_stride, right += b.stride) {
    Vec factor[kVectors];
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) factor[v] = load(right + v * kLanes);
#pragma GCC unroll 12
    for (int64_t row = 0; row < kCount; ++row) {
      const float scale = left[row * a.row_stride];
#pragma GCC unroll 2
      for (int64_t v = 0; v < kVectors; ++v) sum[row][v] += scale * factor[v];
    }
  }
#pragma GCC unroll 12
  for (int64_t row = 0; row < kCount; ++row)
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = c.data + row * c.stride + v * kLanes;
      const Vec value = sum[row][v];
      store(at, accumulate ? load(at) + value : value);
    }
}

template <int64_t kCount, int64_t kVectors>
[[gnu::always_inline]] inline void multiply_from(int64_t row, int64_t rows, int64_t depth, Left a, Rows<const float> b,
                                                 Rows<float> c, bool accumulate) {
  for (; row + kCount <= rows; row += kCount)
    multiply_rows<kCount, kVectors>(depth, {a.data + row * a.row_stride, a.row_stride, a.k_stride}, b,
                                    {c.data + row * c.stride, c.stride}, accumulate);
  if constexpr (kCount > 1) multiply_from<kCount / 2, kVectors>(row, rows, depth, a, b, c, accumulate);
}

/// C = A B, or C += A B, `vectors` vectors wide.
[[gnu::noinline]] void multiply(int64_t rows, int64_t depth, Left a, Rows<const float> b, Rows<float> c,
                                int64_t vectors, bool accumulate) {
  if (vectors == 2)
    multiply_from<kRows, 2>(0, rows, depth, a, b, c, accumulate);
  else
    multiply_from<kRows, 1>(0, rows, depth, a, b, c, accumulate);
}

/// One row of a panel from `width` floats, zeros behind them; and back.
inline void pack_row(const float* from, int64_t width, float* to) {
  if (width == kPanel) {
    store(to, load(from));
    store(to + kLanes, load(from + kLanes));
    return;
  }
  for (int64_t i = 0; i < width; ++i) to[i] = from[i];
  for (int64_t i = width; i < kPanel; ++i) to[i] = 0;
}

inline void unpack_row(const float* from, int64_t width, float* to) {
  if (width == kPanel) {
    store(to, load(from));
    store(to + kLanes, load(from + kLanes));
    return;
  }
  for (int64_t i = 0; i < width; ++i) to[i] = from[i];
}

/// Matrix [rows, columns] (entry (r,c) at from[r*row_stride + c*column_stride]) -> panels [panel][rows][kPanel], zeros behind the columns.
inline void pack_panels(const float* from, int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns,
                        float* to) {
  for (int64_t first = 0; first < columns; first += kPanel)
    for (int64_t row = 0; row < rows; ++row, to += kPanel) {
      const int64_t width = smaller(kPanel, columns - first);
      for (int64_t i = 0; i < width; ++i) to[i] = from[row * row_stride + (first + i) * column_stride];
      for (int64_t i = width; i < kPanel; ++i) to[i] = 0;
    }
}

/// Rows of a square of vectors become its columns: in step s, blocks of s x s change places across the diagonal.
inline void transpose(Vec (&square)[kLanes]) {
#pragma GCC unroll 4
  for (int64_t step = 1; step < kLanes; step *= 2) {
    IntVec upper{}, lower{};
    for (int32_t i = 0; i < kLanes; ++i) {
      upper[i] = i & step ? kLanes + i - step : i;
      lower[i] = i & step ? kLanes + i : i + step;
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; ++i)
      if (!(i & step)) {
        const Vec a = square[i], b = square[i + step];
        square[i] = __builtin_shuffle(a, b, upper);
        square[i + step] = __builtin_shuffle(a, b, lower);
      }
  }
}

/// to(c,r) = from(r,c) for a matrix of `rows` x `columns`.
void turn(Rows<const float> from, int64_t rows, int64_t columns, Rows<float> to) {
  const int64_t whole_rows = rows / kLanes * kLanes, whole = columns / kLanes * kLanes;
  for (int64_t r = 0; r < whole_rows; r += kLanes)
    for (int64_t c = 0; c < whole; c += kLanes) {
      Vec square[kLanes];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kLanes; ++i) square[i] = load(from.data + (r + i) * from.stride + c);
      transpose(square);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kLanes; ++i) store(to.data + (c + i) * to.stride + r, square[i]);
    }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = r < whole_rows ? whole : 0; c < columns; ++c)
      to.data[c * to.stride + r] = from.data[r * from.stride + c];
}

inline void fill(float* to, int64_t count, float value) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}

/// 2^x for -126 < x < 127, relative error 1e-7.
inline Vec exp2(Vec x) {
  constexpr float kRound = 12582912.0f;  // 1.5 2^23: adding it leaves the nearest integer in the low bits
  const Vec shifted = x + kRound;
  const Vec f = x - (shifted - kRound);
  Vec p = splat(1.5403530e-4f);
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  return (Vec)((IntVec)p + ((IntVec)shifted << 23));
}

/// The normal distribution function: a polynomial in |x| approximates log2 of its lower tail on [0,6]; below -6 it stays at 1e-9.
inline Vec normal_cdf(Vec x) {
  Vec u = x < 0 ? -x : x;
  u = u > 6.0f ? splat(6.0f) : u;
  Vec p = splat(kTail[kTailDegree]);
#pragma GCC unroll 12
  for (int64_t i = kTailDegree - 1; i >= 0; --i) p = p * u + kTail[i];
  const Vec tail = exp2(p);
  return x < 0 ? tail : 1.0f - tail;
}

inline Vec gelu(Vec x) { return x * normal_cdf(x); }

/// gelu(x) and its derivative Phi(x) + x phi(x).
inline Vec gelu(Vec x, Vec* slope) {
  const Vec cdf = normal_cdf(x);
  Vec exponent = -0.72134752f * x * x - 1.3257480647f;  // log2 of the density
  exponent = exponent < -120.0f ? splat(-120.0f) : exponent;
  *slope = cdf + x * exp2(exponent);
  return x * cdf;
}

void gelu_array(const float* x, float* y, float* slope, int64_t n) {
  for (int64_t first = 0; first < n; first += kLanes) {
    float in[kLanes] = {}, out[kLanes], derivative[kLanes];
    const int64_t width = smaller(kLanes, n - first);
    for (int64_t i = 0; i < width; ++i) in[i] = x[first + i];
    Vec d;
    store(out, gelu(load(in), &d));
    store(derivative, d);
    for (int64_t i = 0; i < width; ++i) y[first + i] = out[i];
    if (slope != nullptr)
      for (int64_t i = 0; i < width; ++i) slope[first + i] = derivative[i];
  }
}
