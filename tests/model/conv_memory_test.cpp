#include "piddm/model/conv_memory.h"

#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

/// Remembers the most that was held at a time. LibTorch 1 asks for `allocate` const, LibTorch 2 for the other and for
/// copy_data.
class Meter : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t n) const { return hand_out(n); }
  c10::DataPtr allocate(size_t n) { return hand_out(n); }
  void copy_data(void* to, const void* from, std::size_t count) const { std::memcpy(to, from, count); }
  c10::DeleterFnPtr raw_deleter() const override { return &take_back; }

  static inline int64_t held = 0, peak = 0;

 private:
  static inline std::mutex mutex_;
  static inline std::map<void*, int64_t> blocks_;

  static c10::DataPtr hand_out(size_t n) {
    constexpr size_t kAlignment = 64;
    void* block = n == 0 ? nullptr : std::aligned_alloc(kAlignment, (n + kAlignment - 1) / kAlignment * kAlignment);
    const std::lock_guard lock(mutex_);
    if (block) blocks_[block] = static_cast<int64_t>(n);
    held += static_cast<int64_t>(n);
    peak = std::max(peak, held);
    return {block, block, &take_back, torch::kCPU};
  }
  static void take_back(void* block) {
    const std::lock_guard lock(mutex_);
    if (!block) return;
    held -= blocks_.at(block);
    blocks_.erase(block);
    std::free(block);
  }
};

/// The most bytes that `work` held at a time, over what was held before.
int64_t peak_of(const std::function<void()>& work) {
  static Meter meter;
  c10::SetCPUAllocator(&meter, 255);
  const int64_t before = Meter::held;
  Meter::peak = before;
  work();
  c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), 255);
  return Meter::peak - before;
}

struct Case {
  const char* type;
  json options;
  int64_t grid;
};

class ConvMemory : public ::testing::TestWithParam<Case> {};

TEST_P(ConvMemory, IsWithinAFactorOfTwoOfWhatIsTaken) {
  auto model = testing::tiny_teacher();
  model.pde = make_pde({"darcy", GetParam().grid});
  model.network = make_network(GetParam().type, GetParam().options, 1);
  for (auto& parameter : model.network->parameters()) parameter.set_requires_grad(false);
  constexpr int64_t kBatch = 2;
  const auto t = torch::ones({1});
  for (const bool gradient : {false, true}) {
    const auto x = model.latents(1, Stream::latents, 0, kBatch).set_requires_grad(gradient);
    const int64_t taken = peak_of([&] {
      const torch::AutoGradMode mode(gradient);
      const auto y = (*model.network)(x, t);
      if (gradient) y.square().sum().backward();
    });
    const double ratio = static_cast<double>(kBatch * model.bytes_per_sample(gradient)) / static_cast<double>(taken);
    EXPECT_GT(ratio, 0.7) << GetParam().type << (gradient ? ", gradient" : "");
    EXPECT_LT(ratio, 2) << GetParam().type << (gradient ? ", gradient" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ConvMemory,
    ::testing::Values(Case{"unet", {{"width", 16}, {"multipliers", {1, 2, 2}}, {"head_width", 16}}, 32},
                      Case{"unet", {{"width", 24}, {"groups", 8}}, 64},
                      Case{"unet", {{"width", 16}, {"multipliers", {1, 1}}, {"attention", 2}, {"blocks", 1}}, 32},
                      Case{"autoencoder", {{"width", 16}, {"multipliers", {1, 2, 2}}}, 32},
                      Case{"autoencoder", {{"width", 24}, {"blocks", 1}}, 64}),
    [](const auto& test) { return test.param.type + std::to_string(test.index); });

TEST(NetworkBytes, AreCountedFromTheSizesOfEachNetwork) {
  const auto bytes = [](const char* type, const json& options, bool gradient) {
    return make_network(type, options, 1)->bytes_per_sample(2, 16, gradient);
  };
  const json fno = {{"modes", {4, 4}}, {"width", 4}, {"layers", 2}, {"lifting", 8}, {"projection", 16}};
  for (const char* type : {"fno", "ffno"}) {
    EXPECT_EQ(bytes(type, fno, false), 4 * (4 * 4 + 24 + 8 * 2) * 256) << type;
    EXPECT_EQ(bytes(type, fno, true), 4 * (8 * 4 * 2 + 2 * 24 + 8 * 2) * 256) << type;
  }
  EXPECT_EQ(bytes("mlp", {{"width", 5}, {"layers", 3}, {"points", 256}}, true), 4 * (8 * 5 * 3 + 8 * 2) * 256);
  const UnetOptions unet;
  EXPECT_EQ(bytes("unet", json::object(), true), 4 * (unet_activations(unet, 16, true) + 8 * 2 * 256));
}

TEST(NetworkBytes, GrowWithGridAndGraph) {
  auto model = testing::tiny_teacher();
  model.network = make_network("unet", {{"width", 16}}, 1);
  model.pde = make_pde({"darcy", 64});
  const int64_t plain = model.bytes_per_sample(false), graph = model.bytes_per_sample(true);
  EXPECT_GT(graph, 2 * plain);
  model.pde = make_pde({"darcy", 128});
  EXPECT_NEAR(static_cast<double>(model.bytes_per_sample(true)) / static_cast<double>(graph), 4, 0.5);
}

}  // namespace
}  // namespace piddm
