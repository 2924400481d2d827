#include "piddm/core/device.h"

#include <ATen/Parallel.h>

#include "tests/testing.h"

namespace piddm {
namespace {

bool has_cuda() { return torch::cuda::device_count() > 0; }

TEST(Device, CpuAndAutoAreAlwaysThere) {
  EXPECT_TRUE(resolve_device("cpu").is_cpu());
  EXPECT_EQ(resolve_device("auto").is_cuda(), has_cuda());
}

TEST(Device, CudaIsUsedOrItsAbsenceSaid) {
  for (const std::string name : {"cuda", "cuda:0"}) {
    if (has_cuda())
      EXPECT_EQ(resolve_device(name), torch::Device(torch::kCUDA, 0));
    else
      EXPECT_ERROR(resolve_device(name), ExitCode::resources, "--device " + name + ": there is no CUDA device here");
  }
}

TEST(Device, CardThatIsNotThereIsAResourceError) {
  for (const std::string name : {"cuda:99", "cuda:128", "cuda:99999999999999999999"})
    EXPECT_ERROR(resolve_device(name), ExitCode::resources, "--device " + name);
}

TEST(Device, NonsenseNamesAreRefused) {
  for (const std::string name : {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda 0", " cuda"})
    EXPECT_ERROR(resolve_device(name), ExitCode::usage, "--device " + name + ": expected auto, cpu, cuda or cuda:N");
}

class Threads : public ::testing::Test {
 protected:
  ~Threads() override { set_threads(0); }
};

TEST_F(Threads, AreSet) {
  EXPECT_EQ(set_threads(1), 1);
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_EQ(describe_machine().at("threads"), 1);
}

TEST_F(Threads, ZeroTakesEveryCoreThatTheEnvironmentGrants) {
  const int cores = describe_machine().at("cores");
  EXPECT_GE(cores, 1);
  const char* given = std::getenv("OMP_NUM_THREADS");
  const std::string before = given ? given : "";
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(set_threads(0), cores);
  for (const auto& [value, threads] : std::vector<std::pair<std::string, int>>{
           {"1", 1}, {"100000", cores}, {"0", cores}, {"-3", cores}, {"many", cores}}) {
    setenv("OMP_NUM_THREADS", value.c_str(), 1);
    EXPECT_EQ(set_threads(0), threads) << value;
  }
  EXPECT_EQ(at::get_num_threads(), cores);
  given ? setenv("OMP_NUM_THREADS", before.c_str(), 1) : unsetenv("OMP_NUM_THREADS");
}

TEST_F(Threads, TooManyOrNegativeAreRefusedAndChangeNothing) {
  const int cores = describe_machine().at("cores"), threads = set_threads(0);
  EXPECT_ERROR(set_threads(cores + 1), ExitCode::usage,
               fmt::format("--threads {}: this machine offers {}", cores + 1, cores));
  EXPECT_ERROR(set_threads(1 << 30), ExitCode::usage, "--threads 1073741824");
  EXPECT_ERROR(set_threads(-1), ExitCode::usage, "--threads -1");
  EXPECT_EQ(at::get_num_threads(), threads);
}

TEST_F(Threads, OneForAWhile) {
  const int before = set_threads(0);
  {
    const OneThread one;
    EXPECT_EQ(at::get_num_threads(), 1);
  }
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(Machine, DescriptionIsCompleteAndPrintable) {
  const auto machine = describe_machine();
  for (const std::string key : {"cpu", "simd", "system", "compiler", "libtorch", "piddm"})
    EXPECT_FALSE(machine.at(key).get<std::string>().empty()) << key;
  EXPECT_EQ(machine.at("cuda_devices"), static_cast<int64_t>(torch::cuda::device_count()));
  EXPECT_GT(machine.at("memory_gib").get<int64_t>(), 0);
  EXPECT_EQ(json::parse(machine.dump()), machine);
}

}  // namespace
}  // namespace piddm
