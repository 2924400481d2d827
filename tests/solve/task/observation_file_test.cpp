#include "piddm/solve/task/observation_file.h"

#include <cmath>

#include "piddm/files/npy.h"
#include "piddm/files/safetensors.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

const ObserveOptions kReveal{.share = 0.25};

class ObservationFileTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const TensorMap& arrays, const std::string& name = "file.npz") const {
    const auto path = folder_ / name;
    if (path.extension() == ".npz")
      write_npz(path, {arrays, {}});
    else
      write_safetensors(path, arrays);
    return path;
  }
  ObservationFile read(const TensorMap& arrays, Task task, int64_t n = 0) const {
    return read_observation(write(arrays), task, *pde_, 3, kReveal, n);
  }

  testing::TempDir folder_;
  PdePtr pde_ = testing::tiny_pde();
  Tensor truth_ = testing::tiny_data(4).to(torch::kFloat32);
  Tensor u_ = truth_.select(1, 0).contiguous(), a_ = truth_.select(1, 1).contiguous();
};

TEST_F(ObservationFileTest, AMissingChannelIsUnknown) {
  const auto file = read({{"a", a_}}, Task::forward);
  EXPECT_FALSE(file.truth.defined());
  EXPECT_TRUE(torch::equal(file.observation.values.select(1, 1), a_));
  EXPECT_TRUE((file.observation.mask.select(1, 1) == 1).all().item<bool>());
  EXPECT_EQ(file.observation.mask.select(1, 0).sum().item<double>(), 0);
}

TEST_F(ObservationFileTest, NotANumberIsUnknown) {
  auto u = u_.clone();
  u[1][2][3] = NAN;
  u[0].fill_(NAN);
  for (const auto task : {Task::inverse, Task::reconstruct}) {
    const auto file = read({{"u", u}, {"a", a_}}, task);
    EXPECT_FALSE(file.truth.defined());
    EXPECT_TRUE(torch::equal(file.observation.mask.select(1, 0), torch::isfinite(u).to(torch::kFloat32)));
    EXPECT_TRUE(all_finite(file.observation.values));
    const double known_a = file.observation.mask.select(1, 1).mean().item<double>();
    EXPECT_EQ(known_a, task == Task::inverse ? 0 : 1);
  }
}

TEST_F(ObservationFileTest, ACompleteFileIsTheTruthAndTheTaskHidesPartOfIt) {
  for (const auto task : {Task::forward, Task::inverse, Task::reconstruct}) {
    const auto file = read({{"u", u_}, {"a", a_}, {"other", torch::zeros({2})}}, task);
    EXPECT_TRUE(torch::equal(file.truth, truth_));
    EXPECT_TRUE(torch::equal(file.observation.mask, observe(task, truth_, *pde_, 3, kReveal).mask));
  }
}

TEST_F(ObservationFileTest, TakesTheFirstSamplesAndEitherFormat) {
  const auto file = read({{"u", u_}, {"a", a_.to(torch::kFloat64)}}, Task::forward, 3);
  EXPECT_TRUE(torch::equal(file.truth, truth_.narrow(0, 0, 3)));
  EXPECT_EQ(read({{"u", u_}, {"a", a_}}, Task::forward, 99).truth.size(0), 4);
  const auto other =
      read_observation(write({{"u", u_}, {"a", a_}}, "file.safetensors"), Task::forward, *pde_, 3, kReveal);
  EXPECT_TRUE(torch::equal(other.truth, truth_));
}

TEST_F(ObservationFileTest, NoiseComesWithTheFields) {
  const auto sigma = torch::rand_like(u_);
  const auto file = read({{"u", u_}, {"a", a_}, {"sigma_u", sigma}}, Task::inverse, 2).observation;
  EXPECT_TRUE(torch::equal(file.sigma.select(1, 0), sigma.narrow(0, 0, 2)));
  EXPECT_EQ(file.sigma.select(1, 1).abs().max().item<double>(), 0);
  const auto one = read({{"u", u_}, {"sigma_u", torch::full({}, 0.5)}}, Task::inverse).observation;
  EXPECT_EQ(one.sigma.select(1, 0).min().item<double>(), 0.5);
  EXPECT_FALSE(read({{"u", u_}}, Task::inverse).observation.sigma.defined());
  EXPECT_ERROR(read({{"u", u_}, {"sigma_u", -sigma}}, Task::inverse), ExitCode::data, "'sigma_u' is negative");
  EXPECT_ERROR(read({{"u", u_}, {"sigma_u", sigma[0]}}, Task::inverse), ExitCode::data, "'sigma_u' has shape (16,16)");
}

TEST_F(ObservationFileTest, TheTaskSelectsAmongSensors) {
  testing::write_text(folder_ / "sensors.csv", "channel,i,j,value,sample\nu,1,2,0.5,0\na,3,4,12,0\nu,5,6,0.25,1\n");
  const auto read_sensors = [&](Task task, int64_t n = 0) {
    return read_observation(folder_ / "sensors.csv", task, *pde_, 3, kReveal, n);
  };
  const auto all = read_sensors(Task::reconstruct);
  EXPECT_FALSE(all.truth.defined());
  EXPECT_EQ(all.observation.mask.sum().item<double>(), 3);
  EXPECT_EQ(read_sensors(Task::reconstruct, 1).observation.mask.size(0), 1);
  const auto forward = read_sensors(Task::forward).observation;
  EXPECT_EQ(forward.mask.sum().item<double>(), 1);
  EXPECT_EQ(forward.values[0][1][3][4].item<double>(), 12);
  EXPECT_EQ(read_sensors(Task::inverse).observation.mask.select(1, 0).sum().item<double>(), 2);
  write_npz(folder_ / "sensors.npz", {{{"channel", torch::tensor({1, 0})},
                                       {"i", torch::tensor({3, 1})},
                                       {"j", torch::tensor({4, 2})},
                                       {"value", torch::tensor({12.0, 0.5})}},
                                      {}});
  const auto npz = read_observation(folder_ / "sensors.npz", Task::reconstruct, *pde_, 3).observation;
  EXPECT_TRUE(torch::equal(npz.values, all.observation.values.narrow(0, 0, 1)));
}

TEST_F(ObservationFileTest, RefusesBadFilesByName) {
  auto infinite = a_.clone();
  infinite[0][0][0] = INFINITY;
  EXPECT_ERROR(read({{"a", infinite}}, Task::forward), ExitCode::data, "file.npz: 'a' has infinite values");
  EXPECT_ERROR(read({{"a", a_.narrow(1, 0, 8)}}, Task::forward), ExitCode::data,
               "'a' has shape (4,8,16), expected (N,16,16)");
  EXPECT_ERROR(read({{"a", torch::ones({}, torch::kFloat32)}}, Task::forward), ExitCode::data, "'a' has shape ()");
  EXPECT_ERROR(read({{"a", a_}, {"u", u_.narrow(0, 0, 2)}}, Task::forward), ExitCode::data,
               "different numbers of samples");
  EXPECT_ERROR(read({{"b", a_}}, Task::forward), ExitCode::data, "none of the channels of darcy");
  EXPECT_ERROR(read({{"u", u_}}, Task::forward), ExitCode::data, "nothing in it is known for the task forward");
  EXPECT_ERROR(read({{"a", torch::full_like(a_, NAN)}}, Task::reconstruct), ExitCode::data, "nothing in it is known");
  EXPECT_ERROR(read({{"a", a_}}, Task::generate), ExitCode::usage, "observes nothing");
  EXPECT_ERROR(read_observation(folder_ / "file.mat", Task::forward, *pde_, 3, kReveal), ExitCode::usage,
               "expected .npz or .safetensors");
  EXPECT_ERROR(read_observation(folder_ / "none.npz", Task::forward, *pde_, 3, kReveal), ExitCode::data,
               "none.npz: no such file");
}

TEST_F(ObservationFileTest, RefusesAFileOfAnotherPde) {
  const auto read_described = [&](const std::string& description, const std::string& name = "npz.npz") {
    write_npz(folder_ / "npz.npz", {{{"a", a_}}, {{"description.json", description}}});
    write_safetensors(folder_ / "safe.safetensors", {{"a", a_}}, {{"description", description}});
    return read_observation(folder_ / name, Task::forward, *pde_, 3);
  };
  EXPECT_NO_THROW(read_described(R"({"pde": "darcy", "parameters": {}})"));
  EXPECT_NO_THROW(read_described("{}"));
  EXPECT_ERROR(read_described(R"({"pde": "poisson"})"), ExitCode::data, "npz.npz is of poisson");
  EXPECT_ERROR(read_described(R"({"pde": "poisson"})", "safe.safetensors"), ExitCode::data, "[darcy]");
}

}  // namespace
}  // namespace piddm
