// Vectors and panel products. Included once per instruction set, inside its namespace, with kLanes and kRows defined before.

using Vec [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using IntVec [[gnu::vector_size(kLanes * sizeof(float))]] = int32_t;

constexpr int64_t kPanel = 2 * kLanes;

inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }

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

/// Rows row..row+kCount-1 of A B: out(row, vector, sum) gets each vector of the product.
template <int64_t kCount, int64_t kVectors, class Out>
[[gnu::always_inline]] inline void multiply_rows(int64_t row, int64_t depth, Left a, Rows<const float> b,
                                                 const Out& out) {
  Vec sum[kCount][kVectors] = {};
  const float *left = a.data + row * a.row_stride, *right = b.data;
  for (int64_t k = 0; k < depth; ++k, left += a.k_stride, right += b.stride) {
    Vec factor[kVectors];
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) factor[v] = load(right + v * kLanes);
#pragma GCC unroll 12
    for (int64_t i = 0; i < kCount; ++i) {
      const float scale = left[i * a.row_stride];
#pragma GCC unroll 2
      for (int64_t v = 0; v < kVectors; ++v) sum[i][v] += scale * factor[v];
    }
  }
#pragma GCC unroll 12
  for (int64_t i = 0; i < kCount; ++i)
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) out(row + i, v, sum[i][v]);
}

template <int64_t kCount, int64_t kVectors, class Out>
[[gnu::always_inline]] inline void multiply_count(int64_t count, int64_t row, int64_t depth, Left a,
                                                  Rows<const float> b, const Out& out) {
  if (count == kCount) return multiply_rows<kCount, kVectors>(row, depth, a, b, out);
  if constexpr (kCount > 1) multiply_count<kCount - 1, kVectors>(count, row, depth, a, b, out);
}

/// A B in blocks of at most kRows rows, as even as they can be: a block of few rows would wait for its own sums.
template <int64_t kVectors, class Out>
[[gnu::always_inline]] inline void multiply_blocks(int64_t rows, int64_t depth, Left a, Rows<const float> b,
                                                   const Out& out) {
  const int64_t blocks = (rows + kRows - 1) / kRows, least = blocks > 1 ? rows / blocks : rows;
  int64_t longer = rows - blocks * least;
  for (int64_t row = 0; row < rows;) {
    const int64_t count = least + (longer-- > 0);
    multiply_count<kRows, kVectors>(count, row, depth, a, b, out);
    row += count;
  }
}

/// A B, `vectors` vectors wide, handed to out(row, vector, sum).
template <class Out>
[[gnu::always_inline]] inline void multiply_to(int64_t rows, int64_t depth, Left a, Rows<const float> b,
                                               int64_t vectors, const Out& out) {
  if (vectors == 2)
    multiply_blocks<2>(rows, depth, a, b, out);
  else
    multiply_blocks<1>(rows, depth, a, b, out);
}

/// C = A B, or C += A B, `vectors` vectors wide.
[[gnu::noinline]] void multiply(int64_t rows, int64_t depth, Left a, Rows<const float> b, Rows<float> c,
                                int64_t vectors, bool accumulate) {
  multiply_to(rows, depth, a, b, vectors, [=](int64_t row, int64_t v, Vec sum) {
    float* at = c.data + row * c.stride + v * kLanes;
    store(at, accumulate ? load(at) + sum : sum);
  });
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

/// The first `count` floats of a vector, all of them where there are more.
inline void store_part(float* to, int64_t count, Vec v) {
  if (count >= kLanes) return store(to, v);
  for (int64_t i = 0; i < count; ++i) to[i] = v[i];
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

inline void copy(const float* from, int64_t count, float* to) { __builtin_memcpy(to, from, count * sizeof(float)); }

inline void fill(float* to, int64_t count, float value) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}
