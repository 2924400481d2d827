#include "piddm/ops/cpu/memory.h"

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(FreshMemory, IsUsedAgainForTheSameSize) {
  for (const int64_t n : {64 << 10, (3 << 20) + 7}) {
    auto first = cpu::fresh({2, n});
    const void* block = first.data_ptr();
    first = Tensor();
    EXPECT_EQ(cpu::fresh({n, 2}).data_ptr(), block);
  }
}

TEST(FreshMemory, OfLiveTensorsIsTheirOwn) {
  const int64_t n = 100 << 10;
  const auto a = cpu::fresh({n}).fill_(1), view = cpu::fresh({n}).fill_(2).narrow(0, 5, 10),
             c = cpu::fresh({n}).fill_(3);
  EXPECT_EQ(a.sum().item<double>(), n);
  EXPECT_EQ(view.sum().item<double>(), 20);
  EXPECT_EQ(c.sum().item<double>(), 3 * n);
}

TEST(FreshMemory, HasTheShapeAskedFor) {
  for (const int64_t n : {0, 3, 300000}) {
    const auto x = cpu::fresh({2, n, 1});
    EXPECT_EQ(x.sizes(), (std::vector<int64_t>{2, n, 1}));
    EXPECT_EQ(x.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(x.is_contiguous());
  }
}

}  // namespace
}  // namespace piddm
