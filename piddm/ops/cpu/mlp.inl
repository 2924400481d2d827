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
  const int64_t inputs = m.in + m.fixed, forward = (inputs + m.hidden) * kPanel;
  const int64_t weights = padded(m.hidden) * (2 * (inputs + m.out) + padded(m.in));
  return larger(forward, weights + kMlpPoints * (inputs + m.out + 2 * kPanel + padded(m.in)) + m.out * kLanes);
}

/// hidden [hidden][kPanel] = gelu(w1 input + bias1) of one panel of points
[[gnu::noinline]] void mlp_first(const Mlp& m, const float* input, const float* bias1, int64_t wide, float* hidden) {
  const int64_t inputs = m.in + m.fixed;
  multiply_to(m.hidden, inputs, {m.w1, inputs, 1}, {input, kPanel}, wide,
              [=](int64_t j, int64_t v, Vec sum) { store(hidden + j * kPanel + v * kLanes, gelu(sum + bias1[j])); });
}

/// y = w2 hidden + bias2, `width` points of planes `points` apart
[[gnu::noinline]] void mlp_second(const Mlp& m, const float* hidden, int64_t width, float* y) {
  const float* bias2 = m.bias2;
  const int64_t points = m.points;
  multiply_to(m.out, m.hidden, {m.w2, m.hidden, 1}, {hidden, kPanel}, vectors(width),
              [=](int64_t o, int64_t v, Vec sum) {
                store_part(y + o * points + v * kLanes, width - v * kLanes, sum + bias2[o]);
              });
}

void mlp_forward(const Mlp& m, float* y, int64_t begin, int64_t end, float* memory) {
  const int64_t inputs = m.in + m.fixed;
  float *input = memory, *hidden = input + inputs * kPanel;
  for (int64_t unit = begin; unit < end; ++unit) {
    const auto tile = mlp_tile(m, unit, kPanel);
    for (int64_t i = 0; i < inputs; ++i)
      pack_row(mlp_input(m, tile.sample, i) + tile.first, tile.width, input + i * kPanel);
    mlp_first(m, input, m.bias1 + (m.bias_per_sample ? tile.sample * m.hidden : 0), vectors(tile.width), hidden);
    mlp_second(m, hidden, tile.width, y + tile.sample * m.out * m.points + tile.first);
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
  float* dbias2;            // [out][kLanes]
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
  w.dbias2 = w.dx + kMlpPoints * padded(m.in);
  pack_panels(m.w1, 1, inputs, inputs, m.hidden, w.w1_by_hidden);
  pack_panels(m.w2, m.hidden, 1, m.out, m.hidden, w.w2);
  fill(w.w1, hidden * padded(m.in), 0);
  for (int64_t p = 0; p < panels(m.in); ++p)
    pack_panels(m.w1 + p * kPanel, inputs, 1, m.hidden, smaller(kPanel, m.in - p * kPanel), w.w1 + p * hidden * kPanel);
  fill(w.dw1, hidden * (inputs + m.out), 0);
  fill(w.dbias2, m.out * kLanes, 0);
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

/// hidden = gelu(z) for z = w1 x + bias, dhidden <- dhidden * gelu'(z), and the sum of the latter over the points: one panel of hidden channels.
[[gnu::noinline]] void mlp_hidden(int64_t inputs, const float* w1, const float* bias, int64_t width, const MlpWork& w,
                                  float* dbias) {
  float padded_bias[kPanel], sums[kPanel];
  pack_row(bias, width, padded_bias);
  const Vec b[2] = {load(padded_bias), load(padded_bias + kLanes)};
  Vec sum[2] = {};
  multiply_to(kMlpPoints, inputs, {w.x, 1, kMlpPoints}, {w1, kPanel}, vectors(width), [&](int64_t p, int64_t v, Vec z) {
    float *h = w.hidden + p * kPanel + v * kLanes, *dh = w.dhidden + p * kPanel + v * kLanes;
    Vec slope;
    store(h, gelu(z + b[v], &slope));
    const Vec d = load(dh) * slope;
    store(dh, d);
    sum[v] += d;
  });
  store(sums, sum[0]);
  store(sums + kLanes, sum[1]);
  unpack_row(sums, width, dbias);
}

/// One panel of hidden channels of one tile of points.
inline void mlp_panel(const Mlp& m, const MlpGradient& g, const float* bias1, int64_t panel, const MlpWork& w,
                      float* dbias1) {
  const int64_t inputs = m.in + m.fixed, first = panel * kPanel, points = kMlpPoints, width_in = padded(m.in);
  const int64_t width = smaller(kPanel, m.hidden - first), wide = vectors(width);
  multiply(points, m.out, {w.dy, 1, points}, {w.w2 + first * m.out, kPanel}, {w.dhidden, kPanel}, wide, false);
  mlp_hidden(inputs, w.w1_by_hidden + first * inputs, bias1 + first, width, w, dbias1 + first);
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
  for (int64_t o = 0; o < m.out; ++o) g.dbias2[o] += sum_of(load(w.dbias2 + o * kLanes));
  for (int64_t j = 0; j < m.hidden; ++j) {
    const int64_t panel = j / kPanel, column = j % kPanel;
    for (int64_t i = 0; i < inputs; ++i) g.dw1[j * inputs + i] += w.dw1[(panel * inputs + i) * kPanel + column];
    for (int64_t o = 0; o < m.out; ++o) g.dw2[o * m.hidden + j] += w.dw2[(panel * m.out + o) * kPanel + column];
  }
}

inline void mlp_add_outputs(const Mlp& m, const MlpWork& w) {
  for (int64_t o = 0; o < m.out; ++o) {
    Vec sum = load(w.dbias2 + o * kLanes);
    for (int64_t i = 0; i < kMlpPoints; i += kLanes) sum += load(w.dy + o * kMlpPoints + i);
    store(w.dbias2 + o * kLanes, sum);
  }
}

void mlp_backward(const Mlp& m, const MlpGradient& g, int64_t begin, int64_t end, float* memory) {
  const auto w = mlp_work(m, memory);
  for (int64_t unit = begin; unit < end; ++unit) {
    const auto tile = mlp_tile(m, unit, kMlpPoints);
    mlp_load(m, g.dy, tile, w);
    if (g.dw1 != nullptr) mlp_add_outputs(m, w);
    const float* bias1 = m.bias1 + (m.bias_per_sample ? tile.sample * m.hidden : 0);
    for (int64_t p = 0; p < panels(m.hidden); ++p) mlp_panel(m, g, bias1, p, w, g.dbias1 + unit * m.hidden);
    if (g.dx == nullptr) continue;
    turn({w.dx, padded(m.in)}, tile.width, m.in, {g.dx + tile.sample * m.in * m.points + tile.first, m.points});
  }
  if (g.dw1 != nullptr) mlp_store_weights(m, g, w);
}
