#include "piddm/solve/task/sensor_list.h"

#include <cmath>

#include "piddm/core/peak_memory.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

class SensorListTest : public ::testing::Test {
 protected:
  Observation read(const std::string& text, const Pde& pde) const {
    testing::write_text(folder_ / "sensors.csv", text);
    return read_sensor_csv(folder_ / "sensors.csv", pde);
  }
  Observation read(const std::string& text) const { return read(text, *pde_); }

  testing::TempDir folder_;
  PdePtr pde_ = testing::tiny_pde();
};

TEST_F(SensorListTest, ReadsPlacesValuesAndNoise) {
  const auto o = read("# a comment\r\nvalue, channel ,j,i,sigma\r\n\r\n0.5,u,3,1,\n -2e-1 ,u,4,15,0.1\n12,a,0,0,0\n");
  EXPECT_EQ(o.mask.sum().item<double>(), 3);
  EXPECT_EQ(o.values[0][0][1][3].item<float>(), 0.5f);
  EXPECT_EQ(o.values[0][0][15][4].item<float>(), -0.2f);
  EXPECT_EQ(o.values[0][1][0][0].item<float>(), 12.f);
  EXPECT_EQ(o.sigma[0][0][15][4].item<float>(), 0.1f);
  EXPECT_EQ(o.sigma.sum().item<float>(), 0.1f);
  EXPECT_FALSE(read("channel,i,j,value\nu,1,2,3").sigma.defined());
}

TEST_F(SensorListTest, SamplesAreCountedFromZero) {
  const auto o = read("channel,i,j,value,sample\nu,1,2,3,1\nu,1,2,4,0\nu,0,0,5,2\n");
  EXPECT_EQ(o.values.size(0), 3);
  EXPECT_EQ(o.values[1][0][1][2].item<double>(), 3);
  EXPECT_EQ(o.values[0][0][1][2].item<double>(), 4);
  EXPECT_ERROR(read("channel,i,j,value,sample\nu,1,2,3,0\nu,1,2,4,2\n"), ExitCode::data, "sample 1 has no value");
}

TEST_F(SensorListTest, ACellIsTheEntryNearestToItsPlace) {
  const auto darcy = read("channel,x,y,kind,value\nu,0,1,cell,1\nu,0.1,0.5,cell,2\n");  // centres (i+1/2)/16
  EXPECT_EQ(darcy.values[0][0][0][15].item<double>(), 1);
  EXPECT_EQ(darcy.values[0][0][1][8].item<double>(), 2);
  EXPECT_TRUE(darcy.functionals.empty());
  const auto heat = make_pde({.name = "heat", .grid = 16});  // x periodic of length 2 pi, nodes in t
  const auto ring = read("channel,x,t,value,kind\nu,6.2,1,1,cell\nu,3.1416,0.5,2,cell\nphi,,,0.7,\n", *heat);
  EXPECT_EQ(ring.values[0][0][0][15].item<double>(), 1);
  EXPECT_EQ(ring.values[0][0][8][8].item<double>(), 2);
  EXPECT_TRUE((ring.values[0][1] == 0.7f).all().item<bool>());  // a scalar is known everywhere or nowhere
  EXPECT_TRUE((ring.mask[0][1] == 1).all().item<bool>());
  const auto wide = make_pde({.name = "darcy", .grid = {16, 40}, .parameters = {{"length_y", 2.5}}});
  const auto rectangle = read("channel,x,y,value,kind\nu,1,2.5,1,cell\nu,0.1,1.25,2,cell\n", *wide);
  EXPECT_EQ(rectangle.values[0][0][15][39].item<double>(), 1);
  EXPECT_EQ(rectangle.values[0][0][1][20].item<double>(), 2);
  EXPECT_ERROR(read("channel,x,y,value\nu,0,2.6,1\n", *wide), ExitCode::data, "y = 2.6 is outside the grid, 0 to 2.5");
  EXPECT_ERROR(read("channel,i,j,value\nu,16,0,1\n", *wide), ExitCode::data, "whole numbers from 0 to 15");
  EXPECT_EQ(read("channel,i,j,value\nu,0,39,1\n", *wide).values[0][0][0][39].item<double>(), 1);
  const auto stefan = make_pde({.name = "stefan", .grid = 16});
  EXPECT_EQ(read("channel,x,t,value\nu,1,0.1,1\n", *stefan).values[0][0][15][15].item<double>(), 1);
}

// Darcy's centres are at (i + 1/2)/16: 0.28125 is entry 4, and so is 0.2813, which text has rounded.
TEST_F(SensorListTest, APointOnTheGridIsAnEntryAndAnyOtherAFunctional) {
  const auto on = read("channel,x,y,value\nu,0.28125,0.2813,3\n");
  EXPECT_TRUE(on.functionals.empty());
  EXPECT_EQ(on.values[0][0][4][4].item<double>(), 3);
  const auto off = read("channel,x,y,value,sigma\nu,0.25,0.28125,3,0.1\na,0.25,0.25,12,0\n");
  EXPECT_EQ(off.mask.sum().item<double>(), 1);  // a has two values, cell by cell
  EXPECT_EQ(off.values[0][1][4][4].item<double>(), 12);
  ASSERT_EQ(off.functionals.size(), 1);
  EXPECT_EQ(off.functionals.sigma[0].item<double>(), 0.1);
  auto x = torch::zeros({1, 2, 16, 16});
  x[0][0][3][4] = 2;
  x[0][0][4][4] = 5;
  EXPECT_NEAR(off.functionals.apply(x)[0].item<double>(), 3.5, 1e-6);
  EXPECT_ERROR(read("channel,x,y,value\nu,0,0.5,1\n"), ExitCode::data, "line 2: u is 0 there in every sample");
}

TEST_F(SensorListTest, ReadsAveragesAndFluxesAndRefusesWhatIsNone) {
  const std::string head = "kind,channel,x,y,x1,y1,value,sigma,sample\n";
  const auto o = read(head + "line,u,0.1,0.2,0.7,0.4,1,0.1,0\nbox,a,0,0,0.5,0.5,7,,0\nflux,u,0,0,0,1,-2,0.5,1\n");
  EXPECT_EQ(o.mask.size(0), 2);
  EXPECT_EQ(o.mask.sum().item<double>(), 0);
  EXPECT_TRUE(torch::equal(o.functionals.count(2), torch::tensor({2, 1})));
  EXPECT_TRUE(torch::equal(o.functionals.channel, torch::tensor({0, 1, 0})));
  const auto expect = [&](const std::string& line, const std::string& text) {
    EXPECT_ERROR(read(head + line + "\n"), ExitCode::data, text);
  };
  expect("lime,u,0,0,1,1,1,,", "line 2: unknown kind 'lime'; did you mean 'line'");
  expect("line,u,0,0,,1,1,,", "line 2: the place is missing");
  expect("line,u,0,0,1,2,1,,", "line 2: y = 2 is outside the grid, 0 to 1");
  expect("point,u,0.1,0,1,1,1,,", "line 2: a point has one place");
  expect("box,u,0.1,0,0.1,1,1,,", "line 2: the box from (0.1, 0) to (0.1, 1) has no area");
  expect("flux,u,0.1,0,0.1,1,1,,", "line 2: a flux needs a part of a wall of darcy");
  expect("flux,a,0,0,0,1,1,,", "line 2: a flux is that of a solution channel, a is a coefficient");
  EXPECT_ERROR(read("channel,i,j,value,kind\nu,1,1,1,line\n"), ExitCode::data, "a line needs places by coordinates");
  EXPECT_ERROR(read("channel,i,j,x1,y1,value\nu,1,1,1,1,2\n"), ExitCode::data, "columns x1 and y1 go together");
  const auto burgers = make_pde({.name = "burgers", .grid = 16});
  EXPECT_ERROR(read("channel,x,t,x1,t1,kind,value\nu,0,0,0,1,flux,1\n", *burgers), ExitCode::data,
               "a flux needs a part of a wall of burgers");
}

TEST_F(SensorListTest, ReadingsOfOnePlaceAreCombined) {
  const std::string head = "channel,x,y,value,sigma\n";
  const auto noisy = read(head + "u,0.28125,0.28125,1,0.1\nu,0.2813,0.28125,2,0.2\n");
  EXPECT_EQ(noisy.mask.sum().item<double>(), 1);
  EXPECT_NEAR(noisy.values[0][0][4][4].item<double>(), (1 / 0.01 + 2 / 0.04) / (1 / 0.01 + 1 / 0.04), 1e-6);
  EXPECT_NEAR(noisy.sigma[0][0][4][4].item<double>(), 1 / std::sqrt(125), 1e-7);
  const auto off = read(head + "u,0.3,0.3,1,0.1\nu,0.3,0.3,1,0.1\n").functionals;
  ASSERT_EQ(off.size(), 1);
  EXPECT_NEAR(off.sigma[0].item<double>(), 0.1 / std::sqrt(2), 1e-12);
  for (const std::string order : {"u,0.3,0.3,5,\nu,0.3,0.3,1,0.1\n", "u,0.3,0.3,1,0.1\nu,0.3,0.3,5,\n"}) {
    const auto exact = read(head + order).functionals;
    EXPECT_EQ(exact.value[0].item<double>(), 5);
    EXPECT_EQ(exact.sigma[0].item<double>(), 0);
  }
  EXPECT_EQ(read(head + "u,0.3,0.3,5,\nu,0.3,0.3,5.0000001,\n").functionals.size(), 1);
  EXPECT_ERROR(read(head + "u,0.3,0.3,5,\nu,0.3,0.3,6,\n"), ExitCode::data,
               "sensors.csv: line 3: u = 6 contradicts u = 5 in");
}

TEST_F(SensorListTest, NamesTheLineOfWhatIsWrong) {
  const std::string head = "channel,i,j,value,sigma\n";
  const auto expect = [&](const std::string& line, const std::string& text) {
    EXPECT_ERROR(read(head + "u,0,0,1,0\n" + line + "\n"), ExitCode::data, text);
  };
  expect("u,16,0,1,0", "sensors.csv: line 3: i = 16 is outside the grid, whole numbers from 0 to 15");
  expect("u,0,-1,1,0", "line 3: j = -1 is outside the grid");
  expect("u,0,1.5,1,0", "line 3: j = 1.5 is outside the grid");
  expect("u,0,nan,1,0", "line 3: j = nan is outside the grid");
  expect("u,0,,1,0", "line 3: the place is missing");
  expect("u,0,1,nan,0", "line 3: the value is not finite");
  expect("u,0,1,,0", "line 3: value = '' is not a number");
  expect("u,0,1,1x,0", "line 3: value = '1x' is not a number");
  expect("u,0,1,1,-1", "line 3: sigma = -1 must be finite and not negative");
  expect("w,0,1,1,0", "line 3: unknown channel 'w'");
  expect("u,0,1,1", "line 3: 4 columns, the header has 5");
  expect("u,0,0,2,0", "line 3: u = 2 contradicts u = 1 in");
  EXPECT_ERROR(read("channel,x,y,value\nu,1.01,0,1\n"), ExitCode::data, "line 2: x = 1.01 is outside the grid, 0 to 1");
  EXPECT_ERROR(read("channel,i,j,value,sample\nu,1,1,1,-1\n"), ExitCode::data, "line 2: sample -1");
  EXPECT_ERROR(read("channel,i,j,value,sample\nu,1,1,1,0.5\n"), ExitCode::data, "line 2: sample = 0.5");
}

TEST_F(SensorListTest, RefusesHeadersAndFiles) {
  EXPECT_ERROR(read("channel,i,value\n"), ExitCode::data, "line 1: column 'j' is missing");
  EXPECT_ERROR(read("channel,i,j,valve\n"), ExitCode::data, "unknown column 'valve'; did you mean 'value'");
  EXPECT_ERROR(read("channel,i,j,value,i\n"), ExitCode::data, "column 'i' comes twice");
  EXPECT_ERROR(read("channel,x,y,i,value\n"), ExitCode::data, "give places by");
  EXPECT_ERROR(read("channel,i,j,value\n"), ExitCode::data, "sensors.csv: no values in it");
  EXPECT_ERROR(read(""), ExitCode::data, "sensors.csv: no values in it");
  EXPECT_ERROR(read_sensor_csv(folder_ / "none.csv", *pde_), ExitCode::data, "none.csv: no such file");
}

TEST_F(SensorListTest, ArraysNameTheEntry) {
  const TensorMap good = {{"channel", torch::tensor({0, 1})},
                          {"x", torch::tensor({0.1, 0.9}, torch::kFloat64)},
                          {"y", torch::tensor({0.5, 0.5})},
                          {"value", torch::tensor({0.25, 3.0})},
                          {"sigma", torch::tensor({0.0, 0.5})}};
  const auto o = sensors_from_arrays(good, "f.npz", *pde_);
  EXPECT_EQ(o.values[0][1][14][8].item<double>(), 3);
  EXPECT_EQ(o.sigma[0][1][14][8].item<double>(), 0.5);
  EXPECT_EQ(o.functionals.size(), 1);
  auto boxes = good;
  boxes["kind"] = torch::tensor({3, 0});
  boxes["x1"] = boxes["y1"] = torch::tensor({0.8, 0.0});
  EXPECT_NEAR(sensors_from_arrays(boxes, "f.npz", *pde_).functionals.weight.sum().item<double>(), 1, 1e-12);
  boxes["kind"] = torch::tensor({5, 0});
  EXPECT_ERROR(sensors_from_arrays(boxes, "f.npz", *pde_), ExitCode::data, "f.npz: entry 0: no kind number 5");
  auto bad = good;
  bad["x"] = torch::tensor({0.1, 1.9}, torch::kFloat64);
  EXPECT_ERROR(sensors_from_arrays(bad, "f.npz", *pde_), ExitCode::data, "f.npz: entry 1: x = 1.9 is outside the grid");
  bad = good;
  bad["channel"] = torch::tensor({0, 2});
  EXPECT_ERROR(sensors_from_arrays(bad, "f.npz", *pde_), ExitCode::data, "entry 1: no channel number 2 in darcy");
  bad = good;
  bad["y"] = torch::tensor({0.5});
  EXPECT_ERROR(sensors_from_arrays(bad, "f.npz", *pde_), ExitCode::data, "'y' has shape (1), expected (2)");
}

TEST_F(SensorListTest, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "channel,i,j,value\nu,1,2,3\n")
                .values[0][0][1][2]
                .item<double>(),
            3);
}

TEST_F(SensorListTest, ValuesBeyondAFloatAreNamed) {
  for (const std::string value : {"1e39", "-1e39", "1e400"})
    EXPECT_ERROR(read("channel,i,j,value\nu,1,2," + value + "\n"), ExitCode::data,
                 "sensors.csv: line 2: value = " + value.substr(0, 2));
  EXPECT_ERROR(read("channel,i,j,value\nu,1,2,1e39\n"), ExitCode::data, "beyond the range of a float");
  EXPECT_ERROR(read("channel,i,j,value,sigma\nu,1,2,1,1e39\n"), ExitCode::data, "line 2: sigma = 1e+39");
}

TEST_F(SensorListTest, ASampleFarAwayTakesNoMemory) {
  const PeakMemory memory(torch::kCPU);
  EXPECT_ERROR(read("channel,i,j,value,sample\nu,1,2,3,0\nu,1,2,4,99999\n"), ExitCode::data, "sample 1 has no value");
  EXPECT_LT(memory.mib(), 64);
}

}  // namespace
}  // namespace piddm
