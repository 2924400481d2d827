// The spectral layer. The transform is separable and real: with r = |k1| and the grid folded along H (x(h) +- x(H-h)), cosines and sines of r h meet
// half as many rows, and one product serves k1 = r and k1 = -r:
//   exp(-i (k1 h + k2 w)) = (cos r h -+ i sin r h)(cos k2 w - i sin k2 w)

constexpr int64_t kModeBlock = 16;      // modes of a unit of the mixing: one cache line of a row of modes
constexpr int64_t kFoldedRows = kRows;  // folded rows of a unit of the last step

inline int64_t width_of_modes(const ModeGrid& g) { return padded(2 * g.kept2); }

int64_t spectral_scratch(const ModeGrid& g, int64_t batch, int64_t in, int64_t out) {
  const int64_t columns = width_of_modes(g), wide = larger(in, out), pairs = padded(2 * batch);
  const int64_t analysis = columns * g.width + 2 * g.folded * kPanel + 2 * g.radius * (padded(g.width) + columns);
  const int64_t synthesis = 2 * g.kept2 * padded(g.width) + 2 * g.radius * columns;
  const int64_t mixing = kModeBlock * ((2 * in + out) * pairs + 3 * kLanes) + 2 * wide * larger(pairs, padded(in)) +
                         2 * batch * (2 * out + padded(in));
  const int64_t finish = 2 * kFoldedRows * ((in + out + 1) * kPanel + 2 * kLanes) + (kPanel + in) * padded(out);
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

/// Products of cosines and sines [2 radius][columns] -> (re, im) of each mode.
inline void to_complex(const ModeGrid& g, const float* z, int64_t columns, float* re, float* im) {
  for (int64_t k = 0; k < g.kept1; ++k) {
    const int64_t k1 = g.lowest1 + k, r = k1 < 0 ? -k1 : k1;
    const float sign = k1 < 0 ? -1.0f : 1.0f;
    const float *c = z + r * columns, *s = z + (g.radius + r) * columns;
    for (int64_t l = 0; l < g.kept2; ++l) {
      re[k * g.kept2 + l] = c[l] - sign * s[g.kept2 + l];
      im[k * g.kept2 + l] = -sign * s[l] - c[g.kept2 + l];
    }
  }
}

/// gradient <- gradient * gelu'(pre)
inline void through_gelu(const float* gradient, const float* pre, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vec slope;
    gelu(load(pre + i), &slope);
    store(to + i, load(gradient + i) * slope);
  }
  if (i < n) {
    float slopes[kLanes], values[kLanes];
    gelu_array(pre + i, values, slopes, n - i);
    for (int64_t j = i; j < n; ++j) to[j] = gradient[j] * slopes[j - i];
  }
}

void analyse(const Analysis& a, int64_t begin, int64_t end, float* memory) {
  const auto& g = a.grid;
  const int64_t size = g.height * g.width, columns = width_of_modes(g), row = padded(g.width), q = 2 * g.kept2;
  float *along_w = memory, *even = along_w + columns * g.width, *odd = even + g.folded * kPanel;
  float *half = odd + g.folded * kPanel, *products = half + 2 * g.radius * row;
  pack_panels(a.along_w, q, 1, g.width, q, along_w);
  for (int64_t n = begin; n < end; ++n) {
    const float* plane = a.planes + n * size;
    if (a.pre != nullptr) {
      through_gelu(plane, a.pre + n * size, a.through + n * size, size);
      plane = a.through + n * size;
    }
    if (a.sums != nullptr) a.sums[n] = array_sum(plane, size);
    for (int64_t first = 0; first < g.width; first += kPanel) {
      const int64_t wide = vectors(g.width - first);
      fold(g, plane, first, even, odd);
      multiply(g.radius, g.folded, {g.cos_h, g.folded, 1}, {even, kPanel}, {half + first, row}, wide, false);
      multiply(g.radius, g.folded, {g.sin_h, g.folded, 1}, {odd, kPanel}, {half + g.radius * row + first, row}, wide,
               false);
    }
    for (int64_t first = 0; first < q; first += kPanel)
      multiply(2 * g.radius, g.width, {half, row, 1}, {along_w + first * g.width, kPanel}, {products + first, columns},
               vectors(q - first), false);
    float* modes = a.modes + n * 2 * g.kept1 * g.kept2;
    to_complex(g, products, columns, modes, modes + g.kept1 * g.kept2);
  }
}

// ---- modes to grid

/// The transpose of to_complex.
inline void from_complex(const ModeGrid& g, const float* re, const float* im, int64_t columns, float* z) {
  fill(z, 2 * g.radius * columns, 0);
  for (int64_t k = 0; k < g.kept1; ++k) {
    const int64_t k1 = g.lowest1 + k, r = k1 < 0 ? -k1 : k1;
    const float sign = k1 < 0 ? -1.0f : 1.0f;
    float *c = z + r * columns, *s = z + (g.radius + r) * columns;
    for (int64_t l = 0; l < g.kept2; ++l) {
      const float x = re[k * g.kept2 + l], y = im[k * g.kept2 + l];
      c[l] += x;
      s[g.kept2 + l] -= sign * x;
      s[l] -= sign * y;
      c[g.kept2 + l] -= y;
    }
  }
}

void synthesise(const Synthesis& s, int64_t begin, int64_t end, float* memory) {
  const auto& g = s.grid;
  const int64_t q = 2 * g.kept2, columns = width_of_modes(g), modes = g.kept1 * g.kept2, row = 2 * g.radius * kPanel;
  float *along_w = memory, *z = along_w + q * padded(g.width);
  pack_panels(s.along_w, g.width, 1, q, g.width, along_w);
  for (int64_t n = begin; n < end; ++n) {
    const float* x = s.modes + n * 2 * modes;
    from_complex(g, x, x + modes, columns, z);
    const int64_t sample = n / s.channels, channel = n % s.channels;
    for (int64_t p = 0; p < panels(g.width); ++p)
      multiply(2 * g.radius, q, {z, columns, 1}, {along_w + p * q * kPanel, kPanel},
               {s.v + ((sample * panels(g.width) + p) * s.channels + channel) * row, kPanel}, 2, false);
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

/// Grid values of folded rows first..first+count-1 of all channels: tile [row][channel][kPanel], row 2i is first+i, row 2i+1 its mirror image.
inline void unfold(const Finish& f, const float* v, int64_t first, int64_t count, int64_t sample, const TileRows& rows,
                   float* tile, float* work) {
  const auto& g = f.grid;
  float *even = work, *odd = work + kFoldedRows * kPanel;
  for (int64_t c = 0; c < f.out; ++c, v += 2 * g.radius * kPanel) {
    if (c < f.in) prefetch(f.x + (sample * f.in + c) * g.height * g.width, rows);
    if (f.partner != nullptr) prefetch(f.partner + (sample * f.out + c) * g.height * g.width, rows);
    multiply(count, g.radius, {g.cos_h + first, 1, g.folded}, {v, kPanel}, {even, kPanel}, 2, false);
    multiply(count, g.radius, {g.sin_h + first, 1, g.folded}, {v + g.radius * kPanel, kPanel}, {odd, kPanel}, 2, false);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < kPanel; j += kLanes) {
        const Vec a = load(even + i * kPanel + j), b = load(odd + i * kPanel + j);
        store(tile + 2 * i * tile_stride(f.out) + c * kPanel + j, a + b);
        store(tile + (2 * i + 1) * tile_stride(f.out) + c * kPanel + j, a - b);
      }
  }
}

/// Bias, activation and the way out of one channel of a tile; rows ascend within a plane.
inline void finish_channel(const Finish& f, const TileRows& rows, int64_t plane, int64_t channel, int64_t width,
                           float* tile) {
  const Vec bias = splat(f.bias == nullptr ? 0 : f.bias[channel]);
  for (int64_t r = 0; r < rows.count; ++r) {
    float* row = tile + rows.slot[r] * tile_stride(f.out) + channel * kPanel;
    Vec value[2] = {load(row) + bias, load(row + kLanes) + bias};
    if (f.z != nullptr) {
      store(row, value[0]);
      store(row + kLanes, value[1]);
      unpack_row(row, width, f.z + plane + rows.at[r]);
    }
    if (f.activate)
      for (Vec& v : value) v = gelu(v);
    store(row, value[0]);
    store(row + kLanes, value[1]);
    unpack_row(row, width, f.y + plane + rows.at[r]);
  }
}

/// dskip [in][padded out] += input partner^T over one panel of points
inline void skip_gradient(const Finish& f, int64_t sample, int64_t at, int64_t width, const float* input, float* turned,
                          float* sum) {
  const int64_t size = f.grid.height * f.grid.width, row = padded(f.out);
  turn({f.partner + sample * f.out * size + at, size}, f.out, width, {turned, row});
  for (int64_t first = 0; first < f.out; first += kPanel)
    multiply(f.in, width, {input, kPanel, 1}, {turned + first, row}, {sum + first, row}, vectors(f.out - first), true);
}

void finish(const Finish& f, int64_t begin, int64_t end, float* memory) {
  const auto& g = f.grid;
  const int64_t size = g.height * g.width, across = panels(g.width),
                blocks = (g.folded + kFoldedRows - 1) / kFoldedRows;
  float *tile = memory, *work = tile + 2 * kFoldedRows * tile_stride(f.out), *input = work + 2 * kFoldedRows * kPanel;
  float *turned = input + 2 * kFoldedRows * tile_stride(f.in), *sum = turned + kPanel * padded(f.out);
  fill(turned, (kPanel + f.in) * padded(f.out), 0);
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t first = unit % blocks * kFoldedRows, column = unit / blocks % across * kPanel,
                  sample = unit / (blocks * across);
    const int64_t count = smaller(kFoldedRows, g.folded - first), width = smaller(kPanel, g.width - column);
    const auto rows = tile_rows(g, first, count, column);
    unfold(f, f.v + (unit / blocks) * f.out * 2 * g.radius * kPanel, first, count, sample, rows, tile, work);
    for (int64_t c = 0; c < f.in; ++c)
      for (int64_t r = 0; r < rows.count; ++r)
        pack_row(f.x + (sample * f.in + c) * size + rows.at[r], width,
                 input + rows.slot[r] * tile_stride(f.in) + c * kPanel);
    for (int64_t r = 0; r < rows.count; ++r) {
      const float* x = input + rows.slot[r] * tile_stride(f.in);
      multiply(f.out, f.in, {f.weight, f.weight_row, f.weight_column}, {x, kPanel},
               {tile + rows.slot[r] * tile_stride(f.out), kPanel}, vectors(width), true);
      if (f.partner != nullptr) skip_gradient(f, sample, rows.at[r], width, x, turned, sum);
    }
    for (int64_t c = 0; c < f.out; ++c) finish_channel(f, rows, (sample * f.out + c) * size, c, width, tile);
  }
  if (f.partner == nullptr) return;
  for (int64_t i = 0; i < f.in; ++i)
    for (int64_t c = 0; c < f.out; ++c) f.dskip[i * f.out + c] += sum[i * padded(f.out) + c];
}
