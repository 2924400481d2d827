#include "piddm/distill/pairs.h"

#include "piddm/files/safetensors.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr uint64_t kPairsSeed = 21;

PairOptions few_pairs() { return {.steps = 5, .chunk = 6, .every = 4, .pool = 2, .held_out = 3}; }

Tensor euler(const Model& teacher, const Tensor& latents, int64_t steps) {
  const torch::NoGradGuard no_grad;
  auto x = latents;
  for (int64_t i = 0; i < steps; ++i) {
    const double t = 1 - static_cast<double>(i) / static_cast<double>(steps);
    x = x - (*teacher.network)(x, torch::full({x.size(0)}, t)) / static_cast<double>(steps);
  }
  return x;
}

/// Sample evaluations of the teacher that chunk 1 costs with this cache.
int64_t cost_of_chunk(const Model& teacher, const PairOptions& options, const std::filesystem::path& cache,
                      uint64_t seed = kPairsSeed) {
  PairSource source(teacher, seed, options, cache);
  const WorkMeter meter(*teacher.network);
  source.chunk(1);
  return meter.spent().forward;
}

TEST(Pairs, AreLatentsAndTheirEulerTrajectories) {
  const testing::TempDir cache;
  const auto teacher = testing::tiny_teacher();
  PairSource source(teacher, kPairsSeed, few_pairs(), cache.path());
  const auto pairs = source.chunk(2), held_out = source.held_out();
  EXPECT_TRUE(torch::equal(pairs.latents, normal(kPairsSeed, Stream::pairs, 12, 6, {2, 16, 16})));
  EXPECT_TRUE(torch::equal(held_out.latents, normal(kPairsSeed, Stream::held_out_pairs, 0, 3, {2, 16, 16})));
  EXPECT_LT(testing::relative_error(pairs.targets, euler(teacher, pairs.latents, 5)), 1e-6);
  EXPECT_LT(testing::relative_error(held_out.targets, euler(teacher, held_out.latents, 5)), 1e-6);
  EXPECT_GT(testing::relative_error(pairs.targets, pairs.latents), 1e-2);
  EXPECT_FALSE(pairs.targets.requires_grad());
}

TEST(Pairs, SampleTheTeacherInBatchesThatDoNotShow) {
  const auto teacher = testing::tiny_teacher();
  const auto latents = teacher.latents(kPairsSeed, Stream::latents, 0, 70);
  const WorkMeter meter(*teacher.network);
  const auto all = sample_teacher(teacher, latents, {.steps = 3}, "test");
  EXPECT_EQ(meter.spent().forward, 70 * 3);
  EXPECT_LT(testing::relative_error(all, euler(teacher, latents, 3)), 1e-6);
}

TEST(Pairs, ComeFromTheCacheTheSecondTime) {
  const testing::TempDir cache;
  const auto teacher = testing::tiny_teacher();
  const auto fresh = PairSource(teacher, kPairsSeed, few_pairs(), cache.path()).chunk(1);
  EXPECT_EQ(cost_of_chunk(teacher, few_pairs(), cache.path()), 0);
  const auto cached = PairSource(teacher, kPairsSeed, few_pairs(), cache.path()).chunk(1);
  EXPECT_TRUE(torch::equal(fresh.targets, cached.targets));
  EXPECT_EQ(cost_of_chunk(teacher, few_pairs(), cache / "elsewhere"), 30);
}

TEST(Pairs, OfAnotherOriginAreMadeAgain) {
  const testing::TempDir cache;
  const auto teacher = testing::tiny_teacher();
  auto longer = few_pairs(), larger = few_pairs();
  longer.steps = 7;
  larger.chunk = 8;
  EXPECT_EQ(cost_of_chunk(teacher, few_pairs(), cache.path()), 30);
  EXPECT_EQ(cost_of_chunk(teacher, few_pairs(), cache.path(), kPairsSeed + 1), 30);
  EXPECT_EQ(cost_of_chunk(teacher, longer, cache.path(), kPairsSeed + 1), 42);
  EXPECT_EQ(cost_of_chunk(teacher, larger, cache.path(), kPairsSeed + 1), 40);
  EXPECT_EQ(cost_of_chunk(testing::tiny_teacher(2), larger, cache.path(), kPairsSeed + 1), 40);
  EXPECT_EQ(cost_of_chunk(testing::tiny_teacher(2), larger, cache.path(), kPairsSeed + 1), 0);
}

TEST(Pairs, ThatAreDamagedAreMadeAgain) {
  const testing::TempDir cache;
  const auto teacher = testing::tiny_teacher();
  const auto fresh = PairSource(teacher, kPairsSeed, few_pairs(), cache.path()).chunk(1);
  const auto file = cache / "pairs-1.safetensors";
  const auto whole = testing::read_text(file);
  auto flipped = whole;
  flipped[whole.size() - 100] ^= 0x10;
  for (const auto& damaged :
       {whole.substr(0, whole.size() - 1), whole.substr(0, 20), std::string(), flipped, std::string(200, 'x')}) {
    testing::write_text(file, damaged);
    EXPECT_EQ(cost_of_chunk(teacher, few_pairs(), cache.path()), 30);
    EXPECT_EQ(testing::read_text(file), whole);
  }
  auto content = read_safetensors(file);
  content.tensors.clear();
  write_safetensors(file, {{"other", fresh.targets}}, content.metadata);
  EXPECT_EQ(cost_of_chunk(teacher, few_pairs(), cache.path()), 30);
}

TEST(Pairs, RefuseSenselessNumbers) {
  const testing::TempDir cache;
  for (const auto member :
       {&PairOptions::steps, &PairOptions::chunk, &PairOptions::every, &PairOptions::pool, &PairOptions::held_out}) {
    auto options = few_pairs();
    options.*member = 0;
    EXPECT_ERROR(PairSource(testing::tiny_teacher(), kPairsSeed, options, cache.path()), ExitCode::usage, "at least 1");
  }
}

}  // namespace
}  // namespace piddm
