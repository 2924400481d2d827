#include "piddm/data/formats/import.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "piddm/data/data_file.h"
#include "piddm/files/npy.h"
#include "piddm/files/sha256.h"
#include "tests/data/formats/files.h"

namespace piddm {
namespace {

using testing::data_file;
using testing::expect_near;
using testing::field;
using testing::TempDir;

using Names = std::vector<std::string>;

ImportOptions preset(const std::string& name, const std::vector<std::string>& files) {
  ImportOptions options;
  options.preset = name;
  options.dtype = torch::kFloat64;
  for (const auto& file : files) options.files.push_back(data_file(file));
  return options;
}

ImportOptions mapped(const std::string& file, const std::string& map, const std::string& axes = "") {
  auto options = preset("", {file});
  options.map = map;
  options.axes = axes;
  return options;
}

Tensor channel(const Dataset& data, int64_t c) { return data.fields.select(1, c); }

TEST(ImportFno, DarcyWithEverySecondNode) {
  auto options = preset("fno", {"fno_darcy.mat"});
  options.stride = "2";
  const auto data = import_dataset(options);
  EXPECT_EQ(data.channels, (Names{"u", "a"}));
  EXPECT_EQ(data.description.pde, "darcy");
  expect_near(channel(data, 0), field(2, {2, 31, 31}).slice(1, 0, 31, 2).slice(2, 0, 31, 2));
  expect_near(channel(data, 1), field(1, {2, 31, 31}).slice(1, 0, 31, 2).slice(2, 0, 31, 2));
  options.stride = "";
  options.grid = "16";
  EXPECT_TRUE(import_dataset(options).fields.equal(data.fields));
  EXPECT_EQ(import_dataset(options).description.source["stride"], json({2, 2}));
}

TEST(ImportFno, NavierStokesAtTimeOne) {
  const auto data = import_dataset(preset("fno", {"fno_ns.mat"}));
  EXPECT_EQ(data.channels, (Names{"w", "w0", "phi"}));
  EXPECT_EQ(data.description.pde, "navier-stokes");
  expect_near(channel(data, 0), field(4, {2, 16, 16, 3}).select(3, 1), 1e-6);
  expect_near(channel(data, 1), field(3, {2, 16, 16}), 1e-6);
  expect_near(channel(data, 2), torch::full({2, 16, 16}, std::numbers::pi / 4, torch::kFloat64));
}

TEST(ImportFno, BurgersFinalStatesAreOfNoPde) {
  const auto data = import_dataset(preset("fno", {"fno_burgers.mat"}));
  expect_near(channel(data, 0), field(6, {3, 64}).unsqueeze(2));
  EXPECT_EQ(data.description.pde, "");
  EXPECT_THAT(data.description.source["notes"].dump(), ::testing::HasSubstr("no PDE of ours"));
}

TEST(ImportDiffusionPde, EllipticPairs) {
  const std::vector<std::tuple<std::string, std::string, double, double, int64_t>> cases = {
      {"darcy", "diffusionpde_darcy.mat", 8, 7, 3},
      {"poisson", "diffusionpde_poisson.mat", 10, 9, 2},
      {"helmholtz", "diffusionpde_helmholtz.mat", 12, 11, 2}};
  for (const auto& [pde, file, u, a, n] : cases) {
    SCOPED_TRACE(file);
    const auto data = import_dataset(preset("diffusionpde", {file}));
    EXPECT_EQ(data.channels, (Names{"u", "a"}));
    EXPECT_EQ(data.description.pde, pde);
    expect_near(channel(data, 0), field(u, {n, 16, 16}));
    expect_near(channel(data, 1), field(a, {n, 16, 16}));
  }
}

TEST(ImportDiffusionPde, BothFlavoursOfMatFilesAreTheSame) {
  NEED_HDF5();
  const auto v5 = import_dataset(preset("diffusionpde", {"diffusionpde_darcy.mat"}));
  const auto v73 = import_dataset(preset("diffusionpde", {"v73.mat"}));
  EXPECT_TRUE(v5.fields.equal(v73.fields));
}

TEST(ImportDiffusionPde, BurgersIsTransposedAndItsInitialStateRepeated) {
  const auto data = import_dataset(preset("diffusionpde", {"diffusionpde_burgers.mat"}));
  EXPECT_EQ(data.description.pde, "burgers");
  EXPECT_EQ(data.description.axes, "xt");
  expect_near(channel(data, 0), field(14, {2, 16, 16}).transpose(1, 2));
  expect_near(channel(data, 1), field(13, {2, 16}).unsqueeze(2).expand({2, 16, 16}));
}

TEST(ImportDiffusionPde, NavierStokesTakesTheLastFrame) {
  const auto data = import_dataset(preset("diffusionpde", {"diffusionpde_ns.mat"}));
  expect_near(channel(data, 0), field(16, {2, 16, 16, 3}).select(3, 2), 1e-6);
  expect_near(channel(data, 1), field(15, {2, 16, 16}), 1e-6);
}

TEST(ImportEci, EveryPairOfStateAndForcingIsASample) {
  NEED_HDF5();
  auto options = preset("eci", {"eci_ns.h5"});
  const auto data = import_dataset(options);
  ASSERT_EQ(data.size(), 6);
  const auto u = field(21, {2, 3, 16, 16, 3}).select(4, 1).reshape({6, 16, 16});
  expect_near(channel(data, 0), u, 1e-6);
  expect_near(channel(data, 1), field(20, {2, 16, 16}).repeat_interleave(3, 0), 1e-6);
  const auto phases = torch::linspace(0, std::numbers::pi / 2, 3, torch::kFloat64).repeat({2});
  expect_near(channel(data, 2), phases.view({6, 1, 1}).expand({6, 16, 16}), 1e-6);
  options.first = 2;
  options.n = 3;
  expect_near(channel(import_dataset(options), 0), u.narrow(0, 2, 3), 1e-6);
  expect_near(channel(import_dataset(preset("eci", {"eci_darcy.h5"})), 0), field(22, {2, 16, 16}));
}

TEST(ImportPidm, TwoTablesAreOneDataSet) {
  for (const auto& files : {Names{"pidm"}, Names{"pidm/p_data.csv", "pidm/K_data.csv"}}) {
    auto options = preset("pidm", files);
    const auto data = import_dataset(options);
    EXPECT_EQ(data.channels, (Names{"p", "K"}));
    EXPECT_EQ(data.description.pde, "");
    expect_near(channel(data, 0), field(30, {3, 16, 16}), 1e-8);
    expect_near(channel(data, 1), field(31, {3, 16, 16}), 1e-8);
    options.stride = "3x5";
    expect_near(channel(import_dataset(options), 0), field(30, {3, 16, 16}).slice(1, 0, 16, 3).slice(2, 0, 16, 5),
                1e-8);
  }
}

TEST(ImportPdeBench, OneDimensionInTimeAndDarcy) {
  NEED_HDF5();
  const auto burgers = import_dataset(preset("pdebench", {"pdebench_burgers.h5"}));
  const auto u = field(23, {2, 9, 16});
  expect_near(channel(burgers, 0), u.transpose(1, 2), 1e-6);
  expect_near(channel(burgers, 1), u.select(1, 0).unsqueeze(2).expand({2, 16, 9}), 1e-6);
  EXPECT_EQ(burgers.description.domain["t"], json({0.0, 2.0}));
  const auto darcy = import_dataset(preset("pdebench", {"pdebench_darcy.h5"}));
  expect_near(channel(darcy, 0), field(24, {2, 1, 16, 16}).select(1, 0), 1e-6);
  expect_near(channel(darcy, 1), field(25, {2, 16, 16}), 1e-6);
  auto options = preset("pdebench", {"pdebench_darcy.h5"});
  EXPECT_EQ(darcy.description.pde, "");
  options.pde = "darcy";
  EXPECT_EQ(import_dataset(options).description.pde, "darcy");
}

TEST(ImportWell, ScalarFieldsScalarsAndFrames) {
  NEED_HDF5();
  const auto data = import_dataset(preset("well", {"well.hdf5"}));
  EXPECT_EQ(data.channels, (Names{"phase", "force", "vorticity", "vorticity0"}));
  const auto vorticity = field(27, {2, 3, 16, 16});
  expect_near(channel(data, 0), torch::tensor({0.25, 0.5}).view({2, 1, 1}).expand({2, 16, 16}));
  expect_near(channel(data, 1), field(28, {2, 16, 16}), 1e-6);
  expect_near(channel(data, 2), vorticity.select(1, 2), 1e-6);
  expect_near(channel(data, 3), vorticity.select(1, 0), 1e-6);
  const auto velocity = import_dataset(mapped("well.hdf5", "vy=t1_fields/velocity[c=1,t=2]", "ntxyc"));
  expect_near(channel(velocity, 0), field(29, {2, 3, 16, 16, 2}).select(4, 1).select(1, 2), 1e-6);
}

TEST(ImportMap, AnyArraysBecomeAnyChannels) {
  const auto data = import_dataset(mapped("pair.npz", "v=u, b=a, c=0.5", "v=nyx,b=nx"));
  EXPECT_EQ(data.channels, (Names{"v", "b", "c"}));
  expect_near(channel(data, 0), field(33, {2, 16, 16}).transpose(1, 2));
  expect_near(channel(data, 1), field(34, {2, 16}).unsqueeze(2).expand({2, 16, 16}));
  expect_near(channel(data, 2), torch::full({2, 16, 16}, 0.5, torch::kFloat64));
  auto options = mapped("pair.npz", "v=u");
  options.corrections.transpose = "all";
  expect_near(channel(import_dataset(options), 0), field(33, {2, 16, 16}).transpose(1, 2));
}

TEST(ImportMap, ChannelsAreBroughtIntoThePdesOrder) {
  auto options = mapped("diffusionpde_darcy.mat", "a=thresh_a_data,u=thresh_p_data");
  options.pde = "darcy";
  const auto data = import_dataset(options);
  EXPECT_EQ(data.channels, (Names{"u", "a"}));
  expect_near(channel(data, 0), field(8, {3, 16, 16}));
  options.map = "u=thresh_p_data";
  EXPECT_ERROR(import_dataset(options), ExitCode::data, R"([darcy] needs the channels ["u","a"], the data have ["u"])");
  options.pde = "dacry";
  EXPECT_ERROR(import_dataset(options), ExitCode::usage, "did you mean 'darcy'");
}

TEST(Import, ShardsAreJoinedAndCounted) {
  auto options = preset("diffusionpde", {"diffusionpde_darcy.mat", "diffusionpde_darcy.mat"});
  options.first = 2;
  options.n = 3;
  const auto data = import_dataset(options);
  const auto u = field(8, {3, 16, 16});
  expect_near(channel(data, 0), torch::cat({u.narrow(0, 2, 1), u.narrow(0, 0, 2)}));
  EXPECT_EQ(data.description.source["files"].size(), 2U);
  options.n = 5;
  EXPECT_ERROR(import_dataset(options), ExitCode::usage, "has 6 samples, not 5 from 2 on");
}

TEST(Import, TheDescriptionSaysWhereTheDataComeFrom) {
  const auto data = import_dataset(preset("diffusionpde", {"diffusionpde_burgers.mat"}));
  const auto& source = data.description.source;
  EXPECT_EQ(source["preset"], "diffusionpde");
  EXPECT_EQ(source["files"][0]["name"], "diffusionpde_burgers.mat");
  EXPECT_EQ(source["files"][0]["sha256"], sha256_file(data_file("diffusionpde_burgers.mat")));
  EXPECT_EQ(source["map"]["u"], "output (ntx)");
  const TempDir dir;
  save_dataset(dir / "d.npz", data, torch::kFloat64);
  EXPECT_EQ(load_dataset(dir / "d.npz").description.source, source);
}

TEST(Import, WhatDoesNotFitIsNamed) {
  EXPECT_ERROR(import_dataset(preset("fnoo", {"fno_ns.mat"})), ExitCode::usage,
               "unknown preset 'fnoo'; did you mean 'fno'");
  EXPECT_ERROR(import_dataset(preset("diffusionpde", {"fno_darcy.mat"})), ExitCode::data, "there are: coeff, sol");
  EXPECT_ERROR(import_dataset(preset("", {"fno_darcy.mat"})), ExitCode::data,
               "name a --preset or a --map of its arrays: coeff, sol");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=uu")), ExitCode::data,
               "pair.npz: unknown array 'uu'; did you mean 'u'?");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u", "nxyt")), ExitCode::data,
               "array 'u' is (2,16,16) with axes nxyt, which are 4 and not 3");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u", "ntc")), ExitCode::data, "axis c must be picked, e.g. u[c=0]");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u,a=a", "u=nxy,a=xn")), ExitCode::data,
               "but another channel has 16");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u", "xyt")), ExitCode::data, "must be picked");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u[n=0]")), ExitCode::data, "no channel has a sample axis n");
  EXPECT_ERROR(import_dataset(mapped("fno_ns.mat", "u=u[t=3]")), ExitCode::data,
               "has 3 entries on axis 3, not 1 from 3");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u")), ExitCode::usage, "--map 'u': expected name=value");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u,u=a")), ExitCode::usage, "channel 'u' twice");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u[z=1]")), ExitCode::usage, "'z=1' is not axis=index");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u", "nxz")), ExitCode::usage, "--axes nxz: 'z'");
  EXPECT_ERROR(import_dataset(mapped("pair.npz", "u=u", "v=nxy")), ExitCode::usage, "unknown channel 'v'");
  EXPECT_ERROR(import_dataset(mapped("diffusionpde_darcy.mat", "p=thresh_a_data[y=0]", "qny")), ExitCode::data,
               "3 is not a square number");
}

TEST(Import, ThinningOutNeedsAGridThatFits) {
  auto options = mapped("pair.npz", "u=u");
  options.grid = "8";
  EXPECT_EQ(import_dataset(options).fields.size(2), 8);
  options.grid = "4x6";
  expect_near(channel(import_dataset(options), 0), field(33, {2, 16, 16}).slice(1, 0, 16, 5).slice(2, 0, 16, 3));
  options.grid = "7";
  EXPECT_ERROR(import_dataset(options), ExitCode::usage, "--grid: 16 points on axis x cannot be thinned out to 7");
  options.grid = "axb";
  EXPECT_ERROR(import_dataset(options), ExitCode::usage, "--grid axb");
  options.stride = "2";
  EXPECT_ERROR(import_dataset(options), ExitCode::usage, "exclude each other");
}

TEST(Import, ValuesThatAreNotFiniteAreRefusedWithTheirPlace) {
  const TempDir dir;
  auto x = torch::zeros({2, 16, 16}, torch::kFloat64);
  x[1][3][5] = std::numeric_limits<double>::quiet_NaN();
  write_npy(dir / "u.npy", x);
  ImportOptions options;
  options.files = {dir / "u.npy"};
  options.map = "u=u";
  EXPECT_ERROR(import_dataset(options), ExitCode::data, "u.npy: channel 'u', sample 1, position (3,5) is nan");
  x[1][3][5] = 1e300;  // finite, but not in float32
  write_npy(dir / "u.npy", x);
  EXPECT_ERROR(import_dataset(options), ExitCode::data, "sample 1, position (3,5) is inf");
  options.dtype = torch::kFloat64;
  EXPECT_EQ(import_dataset(options).size(), 2);
}

TEST(Import, GridsThatNoPdeTakesAreImportedWithoutOne) {
  auto options = preset("diffusionpde", {"diffusionpde_darcy.mat"});
  options.grid = "8";
  const auto data = import_dataset(options);
  EXPECT_EQ(data.description.pde, "");
  EXPECT_THAT(data.description.source["notes"].dump(),
              ::testing::HasSubstr("no PDE: pde.grid: must be at least 16 and at most 1024, got 8"));
  options.pde = "darcy";
  EXPECT_ERROR(import_dataset(options), ExitCode::usage, "pde.grid: must be at least 16 and at most 1024, got 8");
}

/// Two samples of a field and of its coefficient, as a file of ours.
struct Stored {
  TempDir dir;
  Dataset data;
  std::string file;

  explicit Stored(const PdeOptions& options) : data(make_dataset(*make_pde(options), 0, 0, 3)) { write(); }
  void write() { save_dataset(file = dir / "d.npz", data, torch::kFloat64); }
  ImportOptions options(const Corrections& corrections) const {
    ImportOptions o;
    o.files = {file};
    o.corrections = corrections;
    o.dtype = torch::kFloat64;
    return o;
  }
};

TEST(ImportCorrections, FieldsAreTransposedReversedScaledAndShifted) {
  const Stored stored({.name = "poisson", .grid = 16});
  const auto u = stored.data.fields.select(1, 0).to(torch::kFloat64),
             a = stored.data.fields.select(1, 1).to(torch::kFloat64);
  const auto imported = [&](const Corrections& c) { return import_dataset(stored.options(c)); };
  expect_near(channel(imported({.transpose = "all"}), 1), a.transpose(1, 2));
  const auto one = imported({.transpose = "u"});
  expect_near(channel(one, 0), u.transpose(1, 2));
  expect_near(channel(one, 1), a);
  const auto turned = imported({.reverse = "x,u=y"});
  expect_near(channel(turned, 0), u.flip({1, 2}));
  expect_near(channel(turned, 1), a.flip({1}));
  const auto scaled = imported({.scale = "u=2,a=-1", .shift = "u=0.5"});
  expect_near(channel(scaled, 0), 2 * u + 0.5);
  expect_near(channel(scaled, 1), -a);
  EXPECT_EQ(scaled.description.source["corrections"], (json{{"scale", "u=2,a=-1"}, {"shift", "u=0.5"}}));
}

TEST(ImportCorrections, CorrectedDataDeclareNoLawOfTheirOwn) {
  const Stored stored({.name = "poisson", .grid = 16});
  const auto plain = import_dataset(stored.options({}));
  EXPECT_FALSE(plain.description.law.empty());
  EXPECT_FALSE(plain.description.source.contains("corrections"));
  const auto corrected = import_dataset(stored.options({.scale = "u=2"})).description;
  EXPECT_EQ(corrected.pde, "poisson");
  EXPECT_TRUE(corrected.law.empty());
  EXPECT_FALSE(corrected.seed || corrected.first);
  EXPECT_TRUE(corrected.floor.is_null());
}

TEST(ImportCorrections, WhatIsWrongIsNamed) {
  const Stored square({.name = "poisson", .grid = 16}), wide({.name = "poisson", .grid = {16, 20}});
  const auto refuse = [&](const Corrections& c, ExitCode code, const std::string& message) {
    EXPECT_ERROR(import_dataset(square.options(c)), code, message);
  };
  refuse({.scale = "v=2"}, ExitCode::usage, "--scale: unknown channel 'v'");
  refuse({.scale = "2"}, ExitCode::usage, "--scale 2: expected CHANNEL=NUMBER");
  refuse({.shift = "u=x"}, ExitCode::usage, "expected CHANNEL=NUMBER");
  refuse({.scale = "u=inf"}, ExitCode::usage, "expected CHANNEL=NUMBER");
  refuse({.reverse = "z"}, ExitCode::usage, "--reverse z: expected x, or y or t");
  refuse({.transpose = "w"}, ExitCode::usage, "--transpose: unknown channel 'w'");
  refuse({.from = "node"}, ExitCode::usage, "unknown kind of points 'node'; did you mean 'nodes'");
  refuse({.from = "z=nodes"}, ExitCode::usage, "unknown axis 'z'");
  EXPECT_ERROR(import_dataset(wide.options({.transpose = "u"})), ExitCode::data, "only all channels together");
  const auto no_pde = [] {
    auto o = mapped("pair.npz", "u=u");
    return o;
  };
  auto o = no_pde();
  o.corrections.from = "nodes";
  EXPECT_ERROR(import_dataset(o), ExitCode::usage, "which PDE they are of, which resampling needs; add --pde");
  o = no_pde();
  o.parameters = {{"k", 2.0}};
  EXPECT_ERROR(import_dataset(o), ExitCode::usage, "which --param needs; add --pde");
  const Stored heat({.name = "heat", .grid = 16});
  EXPECT_ERROR(import_dataset(heat.options({.from = "t=nodes"})), ExitCode::usage, "--from t=nodes: t is time");
}

TEST(ImportCorrections, NodesBecomeCellsOfTheSameSpacing) {
  const auto pde = make_pde({.name = "darcy", .grid = 16});
  Stored stored({.name = "darcy", .grid = 17});
  const GridPoints nodes = {{{AxisKind::nodes, 17}, {AxisKind::nodes, 17}}};
  const auto x = pde->sample(0, 0, 3);
  stored.data.fields = spline_resample_to(*pde, x, nodes);
  stored.write();
  FieldsAsGiven given;
  const auto data = import_dataset(stored.options({.from = "nodes"}), &given);
  EXPECT_EQ(data.grid(), GridSize(16));
  EXPECT_EQ(data.description.pde, "darcy");
  EXPECT_TRUE(data.fields.equal(spline_resample(*pde, stored.data.fields, nodes)));
  EXPECT_EQ(given.points[0].points, 17);
  EXPECT_TRUE(given.fields.equal(stored.data.fields));
  const auto a = data.fields.select(1, 1);
  EXPECT_TRUE(a.eq(3).logical_or(a.eq(12)).all().item<bool>());
  expect_near(channel(data, 0), x.select(1, 0), 3e-2 * x.select(1, 0).max().item<double>());
  EXPECT_EQ(import_dataset(stored.options({.from = "x=nodes,y=nodes", .resample = {20, 24}})).grid(), GridSize(20, 24));
}

TEST(ImportCorrections, AStoredEndPointIsLeftOutAndATimeAxisStays) {
  const auto burgers = make_pde({.name = "burgers", .grid = {16, 20}});
  const auto x = burgers->sample(0, 0, 3);
  Stored stored({.name = "burgers", .grid = {17, 20}});
  stored.data.fields = torch::cat({x, x.narrow(2, 0, 1)}, 2);
  stored.write();
  const auto data = import_dataset(stored.options({.from = "nodes"}));
  EXPECT_EQ(data.grid(), GridSize(16, 20));
  expect_near(data.fields, x, 1e-12);
}

TEST(ImportCorrections, AParameterIsAddedToTheDeclaredOnes) {
  const Stored stored({.name = "darcy", .grid = 16, .parameters = {{"length_x", 2.0}}});
  auto options = stored.options({});
  options.parameters = {{"length_y", 0.5}};
  const auto declared = import_dataset(options).description.parameters;
  EXPECT_EQ(declared.at("length_x"), 2.0);
  EXPECT_EQ(declared.at("length_y"), 0.5);
}

}  // namespace
}  // namespace piddm
