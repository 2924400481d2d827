// The spectral layer. The transform is separable and real: with r = |k1| and the grid folded along H (x(h) +- x(H-h)), cosines and sines of r h meet
// half as many rows, and one product serves k1 = r and k1 = -r:
//   exp(-i (k1 h + k2 w)) = (cos r h -+ i sin r h)(cos k2 w - i sin k2 w)

constexpr int64_t kModeBlock = 16;        // modes of a unit of the mixing: one cache line of a row of modes
constexpr int64_t kFoldedRows = kRows;    // folded rows of a unit of the last step
constexpr int64_t kUnfolded = kRows / 2;  // of them in registers at a time, with their mirror images

inline int64_t width_of_modes(const ModeGrid& g) { return padded(2 * g.kept2); }

/// Floats from one part of the modes of a plane to the next in scratch memory: vectors run over the end of each.
inline int64_t modes_stride(const ModeGrid& g) { return g.kept1 * g.kept2 + kLanes; }

/// Planes that go through a step together, as far as they fit in half of the first cache: a short step would wait for the one before it.
inline int64_t planes_together(const ModeGrid& g) {
  constexpr int64_t kFloats = 4096, kMost = 8;
  return larger(1, smaller(kMost, kFloats / (2 * g.radius * padded(g.width))));
}

int64_t spectral_scratch(const ModeGrid& g, int64_t batch, int64_t in, int64_t out, int64_t reach) {
  const int64_t columns = width_of_modes(g), wide = larger(in, out), pairs = padded(2 * batch);
  const int64_t together = planes_together(g), modes = 2 * together * (modes_stride(g) + g.radius * columns);
  const int64_t analysis =
      modes + columns * g.width + 2 * g.folded * kPanel + 2 * together * g.radius * padded(g.width);
  const int64_t synthesis = modes + 2 * g.kept2 * padded(g.width);
  const int64_t mixing =
      kModeBlock * ((2 * in + out) * pairs + 3 * kLanes) + 2 * wide * pairs + 2 * batch * (2 * out + padded(in));
  const int64_t inputs = in * neighbours(reach);
  const int64_t finish = 2 * kFoldedRows * (out * kPanel + kLanes) + inputs * kPanel + (kPanel + inputs) * padded(out);
  return larger(larger(analysis, synthesis), larger(mixing, finish));
}

/// Floats from one row of a tile [row][channel][kPanel] to the next: not a power of two, or all rows would meet in one set of the cache.
inline int64_t tile_stride(int64_t channels) { return channels * kPanel + kLanes; }

// ---- grid to modes

/// sum and difference of the rows h and H-h of one panel of columns
inline void fold(const ModeGrid& g, const float* plane, int64_t first, float* even, float* odd) {
  const int64_t width = smaller(kPanel, g.width - first);
  for (int64_t h = 0; h < g.folded; ++h, even += kPanel, odd += kPanel) {
    pack_row(plane + h * g.width + first, width, even);
    const int64_t mirror = g.height - h;
    if (mirror == h || h == 0) {
      fill(odd, kPanel, 0);
      continue;
    }
    pack_row(plane + mirror * g.width + first, width, odd);
    for (int64_t i = 0; i < kPanel; i += kLanes) {
      const Vec a = load(even + i), b = load(odd + i);
      store(even + i, a + b);
      store(odd + i, a - b);
    }
  }
}

/// Products of cosines and sines [2 radius][columns] -> (re, im) of each mode. Vectors run over the end of a row of modes;
/// what they leave there is overwritten by the next row.
inline void to_complex(const ModeGrid& g, const float* z, int64_t columns, float* re, float* im) {
  for (int64_t k = 0; k < g.kept1; ++k) {
    const int64_t k1 = g.lowest1 + k, r = k1 < 0 ? -k1 : k1;
    const float sign = k1 < 0 ? -1.0f : 1.0f;
    const float *c = z + r * columns, *s = z + (g.radius + r) * columns;
    for (int64_t l = 0; l < g.kept2; l += kLanes) {
      store(re + k * g.kept2 + l, load(c + l) - sign * load(s + g.kept2 + l));
      store(im + k * g.kept2 + l, -sign * load(s + l) - load(c + g.kept2 + l));
    }
  }
}

/// to <- gradient * slope
inline void times(const float* gradient, const float* slope, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(to + i, load(gradient + i) * load(slope + i));
  for (; i < n; ++i) to[i] = gradient[i] * slope[i];
}

/// What analyse keeps in its scratch memory, for a group of planes.
struct AnalysisWork {
  float *along_w, *even, *odd;  // [panel][W][kPanel], [folded][kPanel] twice
  float *half, *products;       // [plane][2 radius][padded W], [plane][2 radius][columns]
  float* modes;                 // [plane][2][modes_stride]
};

inline AnalysisWork analysis_work(const ModeGrid& g, float* memory) {
  const int64_t columns = width_of_modes(g), rows = planes_together(g) * 2 * g.radius;
  AnalysisWork w;
  w.along_w = memory;
  w.even = w.along_w + columns * g.width;
  w.odd = w.even + g.folded * kPanel;
  w.half = w.odd + g.folded * kPanel;
  w.products = w.half + rows * padded(g.width);
  w.modes = w.products + rows * columns;
  return w;
}

/// The first step of one plane: along H.
inline void analyse_along_h(const ModeGrid& g, const float* plane, const AnalysisWork& w, float* half) {
  const int64_t row = padded(g.width);
  for (int64_t first = 0; first < g.width; first += kPanel) {
    const int64_t wide = vectors(g.width - first);
    fold(g, plane, first, w.even, w.odd);
    multiply(g.radius, g.folded, {g.cos_h, g.folded, 1}, {w.even, kPanel}, {half + first, row}, wide, false);
    multiply(g.radius, g.folded, {g.sin_h, g.folded, 1}, {w.odd, kPanel}, {half + g.radius * row + first, row}, wide,
             false);
  }
}

void analyse(const Analysis& a, int64_t begin, int64_t end, float* memory) {
  const auto& g = a.grid;
  const int64_t size = g.height * g.width, columns = width_of_modes(g), row = padded(g.width), q = 2 * g.kept2,
                modes = g.kept1 * g.kept2, rows = 2 * g.radius, apart = modes_stride(g), group = planes_together(g);
  const auto w = analysis_work(g, memory);
  pack_panels(a.along_w, q, 1, g.width, q, w.along_w);
  for (int64_t n = begin; n < end; n += group) {
    const int64_t count = smaller(group, end - n);
    for (int64_t i = 0; i < count; ++i) {
      const float* plane = a.planes + (n + i) * size;
      if (a.slope != nullptr) {
        times(plane, a.slope + (n + i) * size, a.through + (n + i) * size, size);
        plane = a.through + (n + i) * size;
      }
      analyse_along_h(g, plane, w, w.half + i * rows * row);
    }
    for (int64_t first = 0; first < q; first += kPanel)
      multiply(count * rows, g.width, {w.half, row, 1}, {w.along_w + first * g.width, kPanel},
               {w.products + first, columns}, vectors(q - first), false);
    for (int64_t i = 0; i < count; ++i)
      to_complex(g, w.products + i * rows * columns, columns, w.modes + 2 * i * apart, w.modes + (2 * i + 1) * apart);
    for (int64_t i = 0; i < 2 * count; ++i) copy(w.modes + i * apart, modes, a.modes + (2 * n + i) * modes);
  }
}

// ---- modes to grid

/// The transpose of to_complex: rows r = |k1| of z hold the sums and differences of the modes k1 = r and k1 = -r that are kept.
inline void from_complex(const ModeGrid& g, const float* re, const float* im, int64_t columns, float* z) {
  for (int64_t r = 0; r < g.radius; ++r) {
    const bool plus = r<g.lowest1 + g.kept1, minus = r> 0 && -r >= g.lowest1;
    const int64_t up = (r - g.lowest1) * g.kept2, down = (-r - g.lowest1) * g.kept2;
    float *c = z + r * columns, *s = z + (g.radius + r) * columns;
    const auto part = [&](const float* x, int64_t l, float sign) {
      const Vec a = plus ? load(x + up + l) : Vec{}, b = minus ? load(x + down + l) : Vec{};
      return sign * a + b;
    };
    for (int64_t l = 0; l < g.kept2; l += kLanes) {
      store(c + l, part(re, l, 1));
      store(s + l, part(im, l, -1));
    }
    for (int64_t l = 0; l < g.kept2; l += kLanes) {
      store(c + g.kept2 + l, -part(im, l, 1));
      store(s + g.kept2 + l, part(re, l, -1));
    }
  }
}

void synthesise(const Synthesis& s, int64_t begin, int64_t end, float* memory) {
  const auto& g = s.grid;
  const int64_t q = 2 * g.kept2, columns = width_of_modes(g), modes = g.kept1 * g.kept2, rows = 2 * g.radius,
                apart = modes_stride(g), group = planes_together(g), across = panels(g.width);
  float *along_w = memory, *z = along_w + q * padded(g.width), *parts = z + group * rows * columns;
  pack_panels(s.along_w, g.width, 1, q, g.width, along_w);
  for (int64_t n = begin; n < end;) {
    const int64_t sample = n / s.channels, channel = n % s.channels;
    const int64_t count = smaller(smaller(group, end - n), s.channels - channel);
    for (int64_t i = 0; i < 2 * count; ++i) copy(s.modes + (2 * n + i) * modes, modes, parts + i * apart);
    for (int64_t i = 0; i < count; ++i)
      from_complex(g, parts + 2 * i * apart, parts + (2 * i + 1) * apart, columns, z + i * rows * columns);
    for (int64_t p = 0; p < across; ++p)
      multiply(count * rows, q, {z, columns, 1}, {along_w + p * q * kPanel, kPanel},
               {s.v + ((sample * across + p) * s.channels + channel) * rows * kPanel, kPanel}, 2, false);
    n += count;
  }
}

/// The rows of the grid that a tile holds, in the order of `unfold`; a folded row without a mirror image has one.
struct TileRows {
  int64_t at[2 * kFoldedRows], slot[2 * kFoldedRows];  ///< offset of the row's part in a plane; its place in the tile
  int64_t count = 0;
};

inline TileRows tile_rows(const ModeGrid& g, int64_t first, int64_t count, int64_t column) {
  TileRows rows;
  const auto add = [&](int64_t row, int64_t slot) {
    rows.at[rows.count] = row * g.width + column;
    rows.slot[rows.count++] = slot;
  };
  for (int64_t i = 0; i < count; ++i) add(first + i, 2 * i);
  for (int64_t i = count - 1; i >= 0; --i) {
    const int64_t h = first + i;
    if (h != 0 && 2 * h != g.height) add(g.height - h, 2 * i + 1);
  }
  return rows;
}

/// Asks for the rows of one plane that a tile will need.
inline void prefetch(const float* plane, const TileRows& rows) {
  for (int64_t r = 0; r < rows.count; ++r) {
    __builtin_prefetch(plane + rows.at[r], 0, 2);
    if constexpr (kPanel > 16) __builtin_prefetch(plane + rows.at[r] + 16, 0, 2);
  }
}

/// Grid values of one channel in kCount folded rows: row i at tile + 2 i stride, its mirror image at tile + (2 i + 1) stride.
template <int64_t kCount>
[[gnu::always_inline]] inline void unfold_rows(const ModeGrid& g, const float* v, int64_t first, float bias,
                                               float* tile, int64_t stride) {
  Vec even[kCount][2], odd[kCount][2] = {};
#pragma GCC unroll 8
  for (int64_t i = 0; i < kCount; ++i) even[i][0] = even[i][1] = splat(bias);
  const float *cos_h = g.cos_h + first, *sin_h = g.sin_h + first, *w = v + g.radius * kPanel;
  for (int64_t r = 0; r < g.radius; ++r, v += kPanel, w += kPanel, cos_h += g.folded, sin_h += g.folded) {
    const Vec v0 = load(v), v1 = load(v + kLanes), w0 = load(w), w1 = load(w + kLanes);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kCount; ++i) {
      even[i][0] += cos_h[i] * v0;
      even[i][1] += cos_h[i] * v1;
      odd[i][0] += sin_h[i] * w0;
      odd[i][1] += sin_h[i] * w1;
    }
  }
#pragma GCC unroll 8
  for (int64_t i = 0; i < kCount; ++i, tile += 2 * stride)
#pragma GCC unroll 2
    for (int64_t j = 0; j < 2; ++j) {
      store(tile + j * kLanes, even[i][j] + odd[i][j]);
      store(tile + stride + j * kLanes, even[i][j] - odd[i][j]);
    }
}

template <int64_t kCount>
inline void unfold_count(int64_t count, const ModeGrid& g, const float* v, int64_t first, float bias, float* tile,
                         int64_t stride) {
  if (count == kCount) return unfold_rows<kCount>(g, v, first, bias, tile, stride);
  if constexpr (kCount > 1) unfold_count<kCount - 1>(count, g, v, first, bias, tile, stride);
}

/// Grid values and bias of folded rows first..first+count-1 of all channels: tile [row][channel][kPanel], row 2i is first+i, row 2i+1 its mirror
/// image.
inline void unfold(const Finish& f, const float* v, int64_t first, int64_t count, int64_t sample, const TileRows& rows,
                   float* tile) {
  const auto& g = f.grid;
  const int64_t stride = tile_stride(f.out);
  for (int64_t c = 0; c < f.out; ++c, v += 2 * g.radius * kPanel) {
    if (c < f.in) prefetch(f.x + (sample * f.in + c) * g.height * g.width, rows);
    if (f.partner != nullptr) prefetch(f.partner + (sample * f.out + c) * g.height * g.width, rows);
    const float bias = f.bias == nullptr ? 0 : f.bias[c];
    for (int64_t i = 0; i < count; i += kUnfolded)
      unfold_count<kUnfolded>(smaller(kUnfolded, count - i), g, v, first + i, bias, tile + 2 * i * stride + c * kPanel,
                              stride);
  }
}

/// What becomes of z = grid values + bias + w x: itself, gelu(z), or gelu(z) and gelu'(z).
enum class Ending { none, gelu, gelu_and_slope };

/// One row of a tile, `width` points at offset `at` of each plane.
template <Ending kEnding>
[[gnu::noinline]] void finish_row(const Finish& f, const float* x, const float* tile, int64_t at, int64_t width) {
  const int64_t size = f.grid.height * f.grid.width;
  float *y = f.y + at, *slopes = f.slope + at;
  multiply_to(f.out, f.inputs(), {f.weight, f.inputs(), 1}, {x, kPanel}, vectors(width),
              [=](int64_t c, int64_t v, Vec sum) {
                const int64_t to = c * size + v * kLanes, count = width - v * kLanes;
                Vec z = sum + load(tile + c * kPanel + v * kLanes);
                if constexpr (kEnding == Ending::gelu) z = gelu(z);
                if constexpr (kEnding == Ending::gelu_and_slope) {
                  Vec slope;
                  z = gelu(z, &slope);
                  store_part(slopes + to, count, slope);
                }
                store_part(y + to, count, z);
              });
}

/// dskip [in][padded out] += input partner^T over one panel of points
inline void skip_gradient(const Finish& f, int64_t sample, int64_t at, int64_t width, const float* input, float* turned,
                          float* sum) {
  const int64_t size = f.grid.height * f.grid.width, row = padded(f.out);
  turn({f.partner + sample * f.out * size + at, size}, f.out, width, {turned, row});
  for (int64_t first = 0; first < f.out; first += kPanel)
    multiply(f.inputs(), width, {input, kPanel, 1}, {turned + first, row}, {sum + first, row}, vectors(f.out - first),
             true);
}

/// `width` points from `column` on of one row, zero beyond the grid.
inline void pack_reaching(const ModeGrid& g, const float* plane, int64_t row, int64_t column, int64_t width, float* to) {
  const int64_t end = smaller(column + width, g.width);
  if (row < 0 || row >= g.height) return fill(to, kPanel, 0);
  if (column >= 0 && end - column == width) return pack_row(plane + row * g.width + column, width, to);
  fill(to, kPanel, 0);
  for (int64_t i = larger(column, 0); i < end; ++i) to[i - column] = plane[row * g.width + i];
}

/// What w is applied to at `width` points at offset `at` of each plane: [inputs()][kPanel].
inline void gather(const Finish& f, const float* x, int64_t at, int64_t width, float* input) {
  const auto& g = f.grid;
  const int64_t size = g.height * g.width;
  if (f.reach == 0) {
    for (int64_t c = 0; c < f.in; ++c) pack_row(x + c * size + at, width, input + c * kPanel);
    return;
  }
  const int64_t row = at / g.width, column = at % g.width;
  for (int64_t c = 0; c < f.in; ++c)
    for (int64_t i = -f.reach; i <= f.reach; ++i)
      for (int64_t j = -f.reach; j <= f.reach; ++j, input += kPanel)
        pack_reaching(g, x + c * size, row + i, column + j, width, input);
}

void finish(const Finish& f, int64_t begin, int64_t end, float* memory) {
  const auto& g = f.grid;
  const int64_t size = g.height * g.width, across = panels(g.width),
                blocks = (g.folded + kFoldedRows - 1) / kFoldedRows;
  const auto row = !f.activate          ? finish_row<Ending::none>
                   : f.slope == nullptr ? finish_row<Ending::gelu>
                                        : finish_row<Ending::gelu_and_slope>;
  float *tile = memory, *input = tile + 2 * kFoldedRows * tile_stride(f.out), *turned = input + f.inputs() * kPanel,
        *sum = turned + kPanel * padded(f.out);
  fill(turned, (kPanel + f.inputs()) * padded(f.out), 0);
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t first = unit % blocks * kFoldedRows, column = unit / blocks % across * kPanel,
                  sample = unit / (blocks * across);
    const int64_t count = smaller(kFoldedRows, g.folded - first), width = smaller(kPanel, g.width - column);
    const auto rows = tile_rows(g, first, count, column);
    unfold(f, f.v + (unit / blocks) * f.out * 2 * g.radius * kPanel, first, count, sample, rows, tile);
    for (int64_t r = 0; r < rows.count; ++r) {
      gather(f, f.x + sample * f.in * size, rows.at[r], width, input);
      row(f, input, tile + rows.slot[r] * tile_stride(f.out), sample * f.out * size + rows.at[r], width);
      if (f.partner != nullptr) skip_gradient(f, sample, rows.at[r], width, input, turned, sum);
    }
  }
  if (f.partner == nullptr) return;
  for (int64_t i = 0; i < f.inputs(); ++i)
    for (int64_t c = 0; c < f.out; ++c) f.dskip[i * f.out + c] += sum[i * padded(f.out) + c];
}
