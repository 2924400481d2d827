// GELU and its derivative. Both come from the lower tail of the normal distribution, T(u) = Phi(-u) for u = |x|:
//   gelu(x) = max(x,0) - u T(u),   gelu'(x) = w for x < 0, else 1 - w, with w = T(u) + u T'(u)
// T to a relative error of 3e-6 or 1e-7 T(0), whichever is more: with 16 lanes from a table of polynomials whose coefficients one permutation
// fetches, else as the power of two of one polynomial.

/// T on [0, 6.5] in 16 intervals: coefficients of (u - middle)/interval, least relative error.
constexpr float kTop = 6.4999f, kIntervals = 16 / 6.5f;
constexpr int64_t kTableDegree = 6;
alignas(64) constexpr float kTable[kTableDegree + 1][16] = {
    {4.19518679e-01f, 2.71137953e-01f, 1.54903993e-01f, 7.75312707e-02f, 3.37653980e-02f, 1.27292043e-02f,
     4.13766270e-03f, 1.15616922e-03f, 2.77066079e-04f, 5.68386968e-05f, 9.96717063e-06f, 1.49231403e-06f,
     1.90589248e-07f, 2.07467536e-08f, 1.92369987e-09f, 1.51854557e-10f},
    {-1.58761054e-01f, -1.34607241e-01f, -9.67647880e-02f, -5.89780882e-02f, -3.04781403e-02f, -1.33539783e-02f,
     -4.96086385e-03f, -1.56253018e-03f, -4.17276664e-04f, -9.44809799e-05f, -1.81380019e-05f, -2.95229256e-06f,
     -4.07431372e-07f, -4.76732502e-08f, -4.72955763e-09f, -3.97824773e-10f},
    {6.55044662e-03f, 1.66615900e-02f, 1.99624579e-02f, 1.70339514e-02f, 1.13176880e-02f, 6.06080471e-03f,
     2.66089523e-03f, 9.67045140e-04f, 2.92684243e-04f, 7.40665855e-05f, 1.57155227e-05f, 2.80155791e-06f,
     4.20236603e-07f, 5.31028377e-08f, 5.65806158e-09f, 5.08697751e-10f},
    {4.18668194e-03f, 2.32766708e-03f, -8.37505067e-05f, -1.65746675e-03f, -1.96343591e-03f, -1.46652979e-03f,
     -8.15059349e-04f, -3.56027042e-04f, -1.25383114e-04f, -3.61077364e-05f, -8.57764007e-06f, -1.69073076e-06f,
     -2.77652134e-07f, -3.81023462e-08f, -4.37938441e-09f, -4.22329033e-10f},
    {-2.66570627e-04f, -6.02339860e-04f, -5.40401496e-04f, -2.29150813e-04f, 5.32339582e-05f, 1.66054946e-04f,
     1.45372964e-04f, 8.35651808e-05f, 3.59257465e-05f, 1.21206194e-05f, 3.28658939e-06f, 7.26246640e-07f,
     1.31946535e-07f, 1.98305408e-08f, 2.47630560e-09f, 2.57773775e-10f},
    {-9.84374055e-05f, -2.77833406e-05f, 4.60556730e-05f, 6.69885194e-05f, 4.06362742e-05f, 6.35559491e-06f,
     -1.08441982e-05f, -1.18211237e-05f, -6.98746408e-06f, -2.92769391e-06f, -9.38417770e-07f, -2.38071024e-07f,
     -4.87039529e-08f, -8.12816037e-09f, -1.11522080e-09f, -1.26491567e-10f},
    {7.23557105e-06f, 1.42714207e-05f, 8.52772246e-06f, -1.50670280e-06f, -6.15628232e-06f, -4.50860807e-06f,
     -1.18771277e-06f, 6.14804947e-07f, 8.29103328e-07f, 4.82616485e-07f, 1.90089736e-07f, 5.60820261e-08f,
     1.29278384e-08f, 2.38119457e-09f, 3.55268343e-10f, 4.33263148e-11f}};

/// log2 T on [0, 6.5]: minimax, relative error of T 1e-7 near 0 and 3e-6 at 6.
constexpr int64_t kTailDegree = 10;
constexpr float kTail[kTailDegree + 1] = {-9.999998210e-01f, -1.151112929e+00f, -4.591546158e-01f, -5.262823839e-02f,
                                          7.206065364e-03f,  -2.003261462e-04f, -1.877802094e-04f, 5.092875736e-05f,
                                          -6.757298102e-06f, 4.801459329e-07f,  -1.453761342e-08f};

constexpr float kRound = 12582912.0f;  // 1.5 2^23: adding it leaves the nearest integer in the low bits

inline Vec magnitude(Vec x) { return (Vec)((IntVec)x & 0x7fffffff); }

/// The smaller of u >= 0 and kTop. Of a NaN: the NaN if it has to last, else kTop, which is faster.
template <bool kNanLasts>
inline Vec clamped(Vec u) {
  const Vec top = splat(kTop);
  if constexpr (kNanLasts) return top < u ? top : u;
  return (Vec)((IntVec)u < (IntVec)top ? (IntVec)u : (IntVec)top);
}

/// 2^x for -126 < x < 127, relative error 1e-7.
inline Vec exp2(Vec x) {
  const Vec shifted = x + kRound;
  const Vec f = x - (shifted - kRound);
  Vec p = splat(1.32765e-3f);
  p = p * f + 9.67554e-3f;
  p = p * f + 5.550713e-2f;
  p = p * f + 2.402212e-1f;
  p = p * f + 6.9314697e-1f;
  p = p * f + 1.00000007f;
  return (Vec)((IntVec)p + ((IntVec)shifted << 23));
}

/// T(u) and, with a slope, w = T(u) + u T'(u).
template <bool kSlope>
[[gnu::always_inline]] inline Vec tail_by_table(Vec u, Vec* w) {
  const Vec c = clamped<kSlope>(u), s = c * kIntervals - 0.5f, shifted = s + kRound, f = s - (shifted - kRound);
  const auto coefficient = [&](int64_t j) { return __builtin_shuffle(load(kTable[j]), (IntVec)shifted); };
  Vec p = coefficient(kTableDegree), d = p;
#pragma GCC unroll 8
  for (int64_t j = kTableDegree - 1; j >= 0; --j) {
    p = p * f + coefficient(j);
    if (kSlope && j > 0) d = d * f + p;
  }
  if (kSlope) *w = p + c * (kIntervals * d);
  return p;
}

template <bool kSlope>
[[gnu::always_inline]] inline Vec tail_by_power(Vec u, Vec* w) {
  const Vec c = clamped<kSlope>(u);
  Vec p = splat(kTail[kTailDegree]);
#pragma GCC unroll 12
  for (int64_t i = kTailDegree - 1; i >= 0; --i) p = p * c + kTail[i];
  const Vec tail = exp2(p);
  if (kSlope) *w = tail - c * exp2(-0.72134752f * c * c - 1.3257480647f);  // log2 of the density
  return tail;
}

template <bool kSlope>
[[gnu::always_inline]] inline Vec gelu_of(Vec x, Vec* slope) {
  const Vec u = magnitude(x);
  Vec tail, w;
  if constexpr (kLanes == 16)
    tail = tail_by_table<kSlope>(u, &w);
  else
    tail = tail_by_power<kSlope>(u, &w);
  if (kSlope) *slope = x < 0 ? w : 1.0f - w;
  const Vec positive = (Vec)((IntVec)x & ((IntVec)x >= 0));  // max(x,0)
  return positive - u * tail;
}

inline Vec gelu(Vec x) { return gelu_of<false>(x, nullptr); }

/// gelu(x) and its derivative Phi(x) + x phi(x).
inline Vec gelu(Vec x, Vec* slope) { return gelu_of<true>(x, slope); }

void gelu_array(const float* x, float* y, float* slope, int64_t n) {
  for (int64_t first = 0; first < n; first += kLanes) {
    const int64_t width = smaller(kLanes, n - first);
    float in[kLanes] = {};
    copy(x + first, width, in);
    Vec derivative;
    store_part(y + first, width, gelu(load(in), &derivative));
    if (slope != nullptr) store_part(slope + first, width, derivative);
  }
}
