#include "piddm/core/available_memory.h"

#include <sys/resource.h>

#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

TEST(AvailableMemory, IsNoMoreThanTheMachineHas) {
  const int64_t there = available_memory(torch::kCPU);
  EXPECT_GT(there, 0);
  EXPECT_LE(there, kilobytes_in("/proc/meminfo", "MemTotal"));
}

TEST(AvailableMemory, ALimitOfTheAddressSpaceCounts) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  auto tight = before;
  tight.rlim_cur = static_cast<rlim_t>(kilobytes_in("/proc/self/status", "VmSize") + kGib);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const int64_t there = available_memory(torch::kCPU);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LE(there, kGib);
}

TEST(AvailableMemory, WhatDoesNotFitIsRefusedWithWhatWould) {
  EXPECT_NO_THROW(require_memory("train.batch", 4, 1024, torch::kCPU));
  EXPECT_ERROR(require_memory("train.batch", 1'000'000'000, kGib, torch::kCPU), ExitCode::resources,
               "train.batch = 1000000000: takes about 954 PiB of memory");
  EXPECT_ERROR(require_memory("train.batch", 1'000'000'000, kGib, torch::kCPU), ExitCode::resources, "lower it to ");
}

TEST(AvailableMemory, BytesReadWell) {
  EXPECT_EQ(format_bytes(10), "10 bytes");
  EXPECT_EQ(format_bytes(1536.0 * 1024), "1.5 MiB");
}

}  // namespace
}  // namespace piddm
