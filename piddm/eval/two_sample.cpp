#include "piddm/eval/two_sample.h"

#include <algorithm>
#include <limits>

#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

constexpr const char* kWorst = "classifier";
constexpr const char* kCut = "classifier_cut";
constexpr const char* kDecoded = "classifier_decoded";
constexpr int64_t kBatch = 256;                    // samples decoded at a time
constexpr int64_t kFloorIndex = int64_t{1} << 35;  // far from the other uses of Stream::splits

/// The projection on the first cosine modes of n points, [n,n].
Tensor projection(int64_t n, int64_t modes, torch::Device device) {
  const auto kept = cosine_matrix(n, torch::kFloat64, device).slice(0, 0, modes);
  return kept.t().matmul(kept).contiguous();
}

}  // namespace

Tensor low_pass(const Tensor& x, int64_t waves) {
  const int64_t h = x.size(-2), w = x.size(-1), modes = 2 * waves + 1;
  const auto fields = x.to(torch::kFloat64);
  if (h <= modes && w <= modes) return fields;
  return apply_both_axes(projection(h, modes, x.device()), fields.contiguous(), projection(w, modes, x.device()));
}

Tensor cut_to_values(const Tensor& x, const std::vector<Channel>& channels) {
  auto out = x.clone();
  for (size_t c = 0; c < channels.size(); ++c) {
    auto field = out.select(1, static_cast<int64_t>(c));
    if (channels[c].scalar) field.copy_(field.mean({1, 2}, true).expand_as(field));
    if (!channels[c].two_valued) continue;
    const auto [low, high] = *channels[c].two_valued;
    field.copy_(torch::where(field > (low + high) / 2, torch::full_like(field, high), torch::full_like(field, low)));
  }
  return out;
}

TwoSampleTest::TwoSampleTest(PdePtr pde, Tensor reference, const ClassifierRecipe& recipe)
    : pde_(std::move(pde)), physical_(std::move(reference)), recipe_(recipe) {}

TwoSampleTest::Views TwoSampleTest::views_of(const Tensor& x) const {
  const torch::NoGradGuard no_grad;
  const auto& channels = pde_->channels();
  const auto cut = cut_to_values(x.to(physical_.device(), torch::kFloat64), channels);
  std::vector<Tensor> two_valued, decoded;
  for (size_t c = 0; c < channels.size(); ++c)
    if (channels[c].two_valued) two_valued.push_back(cut.select(1, static_cast<int64_t>(c)).to(torch::kFloat32));
  for (const auto& part : cut.split(kBatch))
    decoded.push_back(low_pass(pde_->decode(part).x, kJudgedWaves).to(torch::kFloat32));
  Views views;
  if (!two_valued.empty()) views.push_back({kCut, torch::stack(two_valued, 1)});
  views.push_back({kDecoded, torch::cat(decoded)});
  return views;
}

const TwoSampleTest::Views& TwoSampleTest::reference() const {
  if (!reference_) reference_ = std::make_shared<const Views>(views_of(physical_));
  return *reference_;
}

void TwoSampleTest::add(const Views& generated, const Views& truth, const ClassifierRecipe& recipe,
                        const Bootstrap& bootstrap, Scores& scores) {
  std::string worst;
  for (size_t i = 0; i < truth.size(); ++i) {
    const auto& key = truth[i].key;
    const auto right = told_apart(generated[i].fields, truth[i].fields, recipe);
    scores.values[key] = right.mean().item<double>();
    if (bootstrap.resamples > 0) scores.intervals[key] = ratio_interval(right, torch::ones_like(right), bootstrap);
    if (worst.empty() || scores.at(key) > scores.at(worst)) worst = key;
  }
  scores.values[kWorst] = scores.at(worst);
  if (bootstrap.resamples > 0) scores.intervals[kWorst] = Interval(scores.intervals.at(worst));
}

void TwoSampleTest::measure(const Tensor& x, const Bootstrap& bootstrap, Scores& scores) const {
  const auto some = x.slice(0, 0, physical_.size(0));
  if (all_finite(some)) return add(views_of(some), reference(), recipe_, bootstrap, scores);
  scores.values[kWorst] = std::numeric_limits<double>::quiet_NaN();
}

void TwoSampleTest::floor(int64_t n, uint64_t seed, Scores& scores) const {
  const int64_t total = physical_.size(0), size = std::min(n, total / 2);
  const auto order = permutation(seed, Stream::splits, kFloorIndex, total);
  const auto part = [&](int64_t first) {
    Views views;
    for (const auto& [key, fields] : reference())
      views.push_back({key, fields.index_select(0, order.narrow(0, first, size).to(fields.device()))});
    return views;
  };
  add(part(0), part(size), recipe_, {}, scores);
}

}  // namespace piddm
