// `piddm calibrate`: what it finds, stores in a model and `solve --ensemble` makes of it.

#include "piddm/data/data_file.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Arguments;
using testing::Workshop;

class Calibrate : public ::testing::Test {
 protected:
  Calibrate() { fs::copy(shop_ / "student", folder_ / "student", fs::copy_options::recursive); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  Arguments calibrate(const Arguments& more) const {
    Arguments all = {"calibrate", at("student"), "--points", "20",    "--cases",
                     "9",         "--members",   "19",       "--set", "task.iterations=2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  json run(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    return testing::only_json(testing::piddm(arguments));
  }
  json solve(const std::string& file, int members) const {
    return run({"solve", at("student"), "--task", "inverse", "--observe", shop_.at("other.npz"), "--n", "1", "--points",
                "20", "--method", "piddm", "--set", "task.iterations=2", "--ensemble", std::to_string(members), "--out",
                at(file)});
  }

  const Workshop& shop_ = Workshop::get();
  testing::TempDir folder_;
};

TEST_F(Calibrate, StoresAFactorThatEnsemblesAreWidenedBy) {
  EXPECT_FALSE(solve("before.npz", 19).contains("quantiles_widened_by"));
  const auto report = run(calibrate({"--store", "--plot", at("r.svg")}));
  const double factor = report.at("factors").at("u").get<double>();
  EXPECT_GT(factor, 0);
  EXPECT_FALSE(report.at("factors").contains("a"));  // of two values: no intervals
  const auto& u = report.at("channels").at("u");
  EXPECT_TRUE(u.at("intervals_widened").contains("90"));
  EXPECT_EQ(u.at("intervals").size(), 4U);
  EXPECT_FALSE(report.contains("exact_posterior"));
  EXPECT_THAT(testing::read_text(at("r.svg")), ::testing::HasSubstr("Reliability of u"));

  const auto widened = solve("after.npz", 19);
  EXPECT_DOUBLE_EQ(widened.at("quantiles_widened_by").at("u").get<double>(), factor);
  const auto before = read_arrays(at("before.npz")).arrays, after = read_arrays(at("after.npz")).arrays;
  EXPECT_TRUE(before.at("u").equal(after.at("u")));
  EXPECT_TRUE(before.at("u_std").equal(after.at("u_std")));
  EXPECT_TRUE(before.at("a_q05").equal(after.at("a_q05")));
  const auto sorted = std::get<0>(after.at("u").to(torch::kFloat64).sort(0));
  const auto wide = after.at("u_q50").to(torch::kFloat64) + factor * (sorted.narrow(0, 18, 1) - sorted.narrow(0, 9, 1));
  EXPECT_LT(testing::relative_error(after.at("u_q95"), wide), 1e-5);

  const auto few = solve("few.npz", 3);
  EXPECT_FALSE(few.contains("quantiles_widened_by"));
  EXPECT_THAT(few.at("warnings").dump(), ::testing::HasSubstr("need 19 members"));
}

TEST_F(Calibrate, TellsWhatAnotherLawDoesToIt) {
  const auto report = run(calibrate({"--shift", "--noise", "0.05"}));
  const auto& shift = report.at("shift");
  ASSERT_EQ(shift.size(), 4U);
  for (const char* law : {"as given", "roughness", "contrast", "noise"}) {
    EXPECT_GT(shift.at(law).at("channels").at("u").at("fair_crps").get<double>(), 0) << law;
    EXPECT_LE(shift.at(law).at("warned").get<double>(), 1) << law;
  }
  const auto text = testing::piddm(calibrate({"--shift", "--quiet"}));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::HasSubstr("roughness"));
  EXPECT_THAT(text.out, ::testing::HasSubstr("add --noise"));
}

TEST_F(Calibrate, RefusesWhatGivesNoFactor) {
  const auto refuse = [&](const Arguments& more, const std::string& text) {
    Arguments all = {"calibrate", at("student")};
    all.insert(all.end(), more.begin(), more.end());
    testing::expect_failure(all, ExitCode::usage, text);
  };
  refuse({"--store", "--members", "18"}, "needs --members 19 or more");
  refuse({"--store", "--cases", "8"}, "needs --cases 9 or more");
  refuse({"--store", "--shift"}, "one at a time");
  refuse({"--store", "--method", "direct", "--points", "0"}, "[direct] no ensemble of it");
  refuse({"--plot", at("r.txt")}, "r.txt");
}

}  // namespace
}  // namespace piddm
