#include "piddm/eval/ensembles/scores.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

TEST(Scores, AreOneFlatObjectInFiles) {
  Scores scores;
  scores.n = 4;
  scores.n_reference = 8;
  scores.values["swd"] = 0.5;
  scores.values["mmse"] = 0.25;
  scores.intervals["swd"] = {0.25, 1};
  EXPECT_EQ(json(scores).dump(), R"({"n":4,"n_reference":8,"swd":0.5,"mmse":0.25,"intervals":{"swd":[0.25,1.0]}})");
  const auto read = json::parse(json(scores).dump()).get<Scores>();
  EXPECT_EQ(json(read), json(scores));
  EXPECT_EQ(read.n, 4);
  EXPECT_EQ(read.members, 0);
  EXPECT_FALSE(read.has("n"));
}

TEST(Scores, ValuesThatAreNotFiniteComeBackAsNan) {
  Scores scores;
  scores.values["fpd"] = std::nan("");
  scores.intervals["fpd"] = {std::nan(""), 1};
  const auto read = json::parse(json(scores).dump()).get<Scores>();
  EXPECT_TRUE(std::isnan(read.at("fpd")));
  EXPECT_TRUE(std::isnan(read.intervals.at("fpd").first));
}

TEST(Scores, OtherEntriesOfAFileAreNotRead) {
  const auto read = json{{"n", 3}, {"method", "x"}, {"swd", 1}}.get<Scores>();
  EXPECT_EQ(read.values.size(), 1U);
  EXPECT_EQ(read.at("swd"), 1);
  EXPECT_ERROR(read.at("mmse"), ExitCode::data, "there is no mmse");
}

}  // namespace
}  // namespace piddm
