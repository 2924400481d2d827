#include "piddm/cuda/random.h"

#include "piddm/core/rng.h"
#include "tests/cuda/gpu.h"

namespace piddm {
namespace {

using testing::kGpu;

struct Place {
  int64_t first, count;
  std::vector<int64_t> shape;
};

// Sizes around the four numbers of a counter and the threads of a block; indices beyond 32 bits; more samples than a
// grid has rows.
const std::vector<Place> kPlaces = {{0, 1, {}},
                                    {3, 5, {1}},
                                    {0, 2, {3}},
                                    {7, 3, {2, 5, 7}},
                                    {1, 2, {512}},
                                    {0, 3, {513}},
                                    {0, 2, {4099}},
                                    {(1LL << 32) - 1, 3, {6}},
                                    {(1LL << 45) + 17, 2, {2, 33, 31}},
                                    {5, 66001, {2}},
                                    {0, 0, {4}},
                                    {0, 4, {0}}};

TEST(CudaRandom, UniformsAreTheBitsOfTheCpu) {
  NEEDS_GPU();
  for (const auto& p : kPlaces)
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
      const auto made = uniform(77, Stream::masks, p.first, p.count, p.shape, dtype, kGpu);
      EXPECT_TRUE(made.is_cuda());
      EXPECT_TRUE(made.cpu().equal(uniform(77, Stream::masks, p.first, p.count, p.shape, dtype)))
          << p.first << " " << shape_string(made);
    }
}

TEST(CudaRandom, NormalsAgreeWithTheCpu) {
  NEEDS_GPU();
  for (const auto& p : kPlaces)
    for (const auto& [dtype, tolerance] : {std::pair{torch::kFloat32, 1e-6}, {torch::kFloat64, 1e-13}}) {
      const auto made = normal((5ULL << 40) + 3, Stream::noise, p.first, p.count, p.shape, dtype, kGpu).cpu();
      const auto expected = normal((5ULL << 40) + 3, Stream::noise, p.first, p.count, p.shape, dtype);
      ASSERT_EQ(made.sizes(), expected.sizes());
      EXPECT_TRUE(torch::allclose(made, expected, 0, tolerance)) << p.first << " " << shape_string(made);
    }
}

TEST(CudaRandom, AnyBatchSplitGivesTheSameBits) {
  NEEDS_GPU();
  const std::vector<int64_t> shape{2, 33, 5};
  const auto whole = normal(3, Stream::latents, 10, 9, shape, torch::kFloat32, kGpu);
  const auto parts = torch::cat({normal(3, Stream::latents, 10, 1, shape, torch::kFloat32, kGpu),
                                 normal(3, Stream::latents, 11, 8, shape, torch::kFloat32, kGpu)});
  EXPECT_TRUE(whole.equal(parts));
}

TEST(CudaRandom, WritesEverythingAskedForAndNothingElse) {
  NEEDS_GPU();
  if constexpr (cuda::kBuilt) {
    for (const int64_t size : {1, 4, 7, 515}) {
      auto out = testing::poisoned({5, size});
      const cuda::Samples samples{1, static_cast<uint32_t>(Stream::noise), nullptr, 2, 4, size};
      cuda::draw(cuda::Law::normal, samples, out.data_ptr<float>(), cuda::current_stream());
      EXPECT_TRUE(out.narrow(0, 0, 4).isfinite().all().item<bool>()) << size;
      EXPECT_TRUE(out[4].isnan().all().item<bool>()) << size;
    }
  }
}

TEST(CudaRandom, ReadsTheFirstSampleOnTheDevice) {
  NEEDS_GPU();
  auto first = torch::full({1}, 40, torch::TensorOptions(torch::kInt64).device(kGpu));
  EXPECT_TRUE(uniform(1, Stream::time, first, 6, {}).cpu().equal(uniform(1, Stream::time, 40, 6, {})));
  first.fill_(int64_t{1} << 33);
  EXPECT_TRUE(uniform(1, Stream::time, first, 6, {}).cpu().equal(uniform(1, Stream::time, int64_t{1} << 33, 6, {})));
}

}  // namespace
}  // namespace piddm
