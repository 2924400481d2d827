// The pointwise two-layer MLP. Forward: vectors along points, a panel of points at a time, its hidden values stay in the cache. Backward: vectors
// along hidden channels, so that the weight gradients, sums over points, need no transposition; hidden values are computed again.

constexpr int64_t kMlpPoints = 64;  // points of a tile of the backward pass

struct MlpTile {
  int64_t sample, first, width;
};

inline MlpTile mlp_tile(const Mlp& m, int64_t unit, int64_t size) {
  const int64_t tiles = (m.points + size - 1) / size, first = unit % tiles * size;
  return {unit / tiles, first, smaller(size, m.points - first)};
}

/// Row i of the input of a sample: a field, or a coordinate that all samples share.
inline const float* mlp_input(const Mlp& m, int64_t sample, int64_t i) {
  return i < m.in ? m.x + (sample * m.in + i) * m.points : m.coordinates + (i - m.in) * m.points;
}

int64_t mlp_scratch(const Mlp& m) {
  const int64_t inputs = m.in + m.fixed, forward = (inputs + m.hidden + m.out) * kPanel;
  const int64_t weights = padded(m.hidden) * (2 * (inputs + m.out) + padded(m.in));
  return larger(forward, weights + kMlpPoints * (inputs + m.out + 2 * kPanel + padded(m.in)));
}

void mlp_forward(const Mlp& m, float* y, int64_t begin, int64_t end, float* memory) {
  const int64_t inputs = m.in + m.fixed;
  float *input = memory, *hidden = input + inputs * kPanel, *output = hidden + m.hidden * kPanel;
  for (int64_t unit = begin; unit < end; ++unit) {
    const auto tile = mlp_tile(m, unit, kPanel);
    for (int64_t i = 0; i < inputs; ++i)
      pack_row(mlp_input(m, tile.sample, i) + tile.first, tile.width, input + i * kPanel);
    const float* bias1 = m.bias1 + (m.bias_per_sample ? tile.sample * m.hidden : 0);
    multiply(m.hidden, inputs, {m.w1, inputs, 1}, {input, kPanel}, {hidden, kPanel}, 2, false);
    for (int64_t j = 0; j < m.hidden; ++j)
      for (int64_t i = 0; i < kPanel; i += kLanes) {
        float* at = hidden + j * kPanel + i;
        store(at, gelu(load(at) + bias1[j]));
      }
    for (int64_t o = 0; o < m.out; ++o) fill(output + o * kPanel, kPanel, m.bias2[o]);
    multiply(m.out, m.hidden, {m.w2, m.hidden, 1}, {hidden, kPanel}, {output, kPanel}, 2, true);
    for (int64_t o = 0; o < m.out; ++o)
      unpack_row(output + o * kPanel, tile.width, y + (tile.sample * m.out + o) * m.points + tile.first);
  }
}

/// What mlp_backward keeps in its scratch memory.
struct MlpWork {
  float *w1_by_hidden, *w2,
      *w1;           // panels [hidden panel][inputs][kPanel], [hidden panel][out][kPanel], [in panel][hidden][kPanel]
  float *dw1, *dw2;  // [hidden panel][inputs][kPanel], [hidden panel][out][kPanel]
  float *x, *dy;     // [inputs][points], [out][points]
  float *hidden, *dhidden;  // [points][kPanel]
  float* dx;                // [points][padded in]
};

inline MlpWork mlp_work(const Mlp& m, float* memory) {
  const int64_t inputs = m.in + m.fixed, hidden = padded(m.hidden);
  MlpWork w;
  w.w1_by_hidden = memory;
  w.w2 = w.w1_by_hidden + hidden * inputs;
  w.w1 = w.w2 + hidden * m.out;
  w.dw1 = w.w1 + hidden * padded(m.in);
  w.dw2 = w.dw1 + hidden * inputs;
  w.x = w.dw2 + hidden * m.out;
  w.dy = w.x + kMlpPoints * inputs;
  w.hidden = w.dy + kMlpPoints * m.out;
  w.dhidden = w.hidden + kMlpPoints * kPanel;
  w.dx = w.dhidden + kMlpPoints * kPanel;
  pack_panels(m.w1, 1, inputs, inputs, m.hidden, w.w1_by_hidden);
  pack_panels(m.w2, m.hidden, 1, m.out, m.hidden, w.w2);
  fill(w.w1, hidden * padded(m.in), 0);
  for (int64_t p = 0; p < panels(m.in); ++p)
    pack_panels(m.w1 + p * kPanel, inputs, 1, m.hidden, smaller(kPanel, m.in - p * kPanel), w.w1 + p * hidden * kPanel);
  fill(w.dw1, hidden * (inputs + m.out), 0);
  return w;
}

inline void mlp_load(const Mlp& m, const float* dy, MlpTile tile, const MlpWork& w) {
  const auto copy = [&](const float* from, float* to) {
    for (int64_t i = 0; i < tile.width; ++i) to[i] = from[i];
    for (int64_t i = tile.width; i < kMlpPoints; ++i) to[i] = 0;
  };
  for (int64_t i = 0; i < m.in + m.fixed; ++i) copy(mlp_input(m, tile.sample, i) + tile.first, w.x + i * kMlpPoints);
  for (int64_t o = 0; o < m.out; ++o)
    copy(dy + (tile.sample * m.out + o) * m.points + tile.first, w.dy + o * kMlpPoints);
}

/// hidden <- gelu(hidden + bias), dhidden <- dhidden * gelu'(hidden + bias), and the sum of the latter over the points.
inline void mlp_hidden(const float* bias, int64_t width, const MlpWork& w, float* dbias) {
  float padded_bias[kPanel], sums[kPanel];
  pack_row(bias, width, padded_bias);
  for (int64_t i = 0; i < vectors(width) * kLanes; i += kLanes) {
    Vec sum{};
    const Vec b = load(padded_bias + i);
    for (int64_t p = 0; p < kMlpPoints; ++p) {
      float *h = w.hidden + p * kPanel + i, *dh = w.dhidden + p * kPanel + i;
      Vec slope;
      store(h, gelu(load(h) + b, &slope));
      const Vec d = load(dh) * slope;
      store(dh, d);
      sum += d;
    }
    store(sums + i, sum);
  }
  unpack_row(sums, width, dbias);
}

/// One panel of hidden channels of one tile of points.
inline void mlp_panel(const Mlp& m, const MlpGradient& g, const float* bias1, int64_t panel, const MlpWork& w,
                      float* dbias1) {
  const int64_t inputs = m.in + m.fixed, first = panel * kPanel, points = kMlpPoints, width_in = padded(m.in);
  const int64_t width = smaller(kPanel, m.hidden - first), wide = vectors(width);
  multiply(points, inputs, {w.x, 1, points}, {w.w1_by_hidden + first * inputs, kPanel}, {w.hidden, kPanel}, wide,
           false);
  multiply(points, m.out, {w.dy, 1, points}, {w.w2 + first * m.out, kPanel}, {w.dhidden, kPanel}, wide, false);
  mlp_hidden(bias1 + first, width, w, dbias1 + first);
  if (g.dw1 != nullptr) {
    multiply(m.out, points, {w.dy, points, 1}, {w.hidden, kPanel}, {w.dw2 + first * m.out, kPanel}, wide, true);
    multiply(inputs, points, {w.x, points, 1}, {w.dhidden, kPanel}, {w.dw1 + first * inputs, kPanel}, wide, true);
  }
  if (g.dx == nullptr) return;
  for (int64_t p = 0; p < panels(m.in); ++p)
    multiply(points, width, {w.dhidden, kPanel, 1}, {w.w1 + (p * padded(m.hidden) + first) * kPanel, kPanel},
             {w.dx + p * kPanel, width_in}, vectors(m.in - p * kPanel), panel > 0);
}

inline void mlp_store_weights(const Mlp& m, const MlpGradient& g, const MlpWork& w) {
  const int64_t inputs = m.in + m.fixed;
  for (int64_t j = 0; j < m.hidden; ++j) {
    const int64_t panel = j / kPanel, column = j % kPanel;
    for (int64_t i = 0; i < inputs; ++i) g.dw1[j * inputs + i] += w.dw1[(panel * inputs + i) * kPanel + column];
    for (int64_t o = 0; o < m.out; ++o) g.dw2[o * m.hidden + j] += w.dw2[(panel * m.out + o) * kPanel + column];
  }
}

void mlp_backward(const Mlp& m, const MlpGradient& g, int64_t begin, int64_t end, float* memory) {
  const auto w = mlp_work(m, memory);
  for (int64_t unit = begin; unit < end; ++unit) {
    const auto tile = mlp_tile(m, unit, kMlpPoints);
    mlp_load(m, g.dy, tile, w);
    for (int64_t o = 0; o < m.out; ++o) g.dbias2[o] += array_sum(w.dy + o * kMlpPoints, kMlpPoints);
    const float* bias1 = m.bias1 + (m.bias_per_sample ? tile.sample * m.hidden : 0);
    for (int64_t p = 0; p < panels(m.hidden); ++p) mlp_panel(m, g, bias1, p, w, g.dbias1 + unit * m.hidden);
    if (g.dx == nullptr) continue;
    turn({w.dx, padded(m.in)}, tile.width, m.in, {g.dx + tile.sample * m.in * m.points + tile.first, m.points});
  }
  if (g.dw1 != nullptr) mlp_store_weights(m, g, w);
}
