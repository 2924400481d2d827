#include "piddm/data/formats/csv.h"

#include <limits>

#include "tests/data/formats/files.h"

namespace piddm {
namespace {

using testing::TempDir;
using testing::write_text;

Tensor parse(const std::string& text) {
  const TempDir dir;
  write_text(dir / "t.csv", text);
  return read_csv(dir / "t.csv");
}

TEST(Csv, TablesOfNumpyAreRead) {
  const auto x = read_csv(testing::data_file("pidm/p_data.csv"));
  testing::expect_near(x.view({3, 16, 16}), testing::field(30, {3, 16, 16}), 1e-8);
}

TEST(Csv, SpacesSignsAndLineEndsAreAccepted) {
  EXPECT_TRUE(parse("1, -2.5e3\r\n+3,4\r\n\n").equal(torch::tensor({{1.0, -2500.0}, {3.0, 4.0}}, torch::kFloat64)));
  EXPECT_TRUE(parse("7").equal(torch::tensor({{7.0}}, torch::kFloat64)));
  EXPECT_TRUE(std::isnan(parse("nan,1")[0][0].item<double>()));
}

TEST(Csv, LongTablesCrossTheBlocksOfReading) {
  std::string text;
  for (int i = 0; i < 60000; ++i) text += fmt::format("{}.25,{}\n", i, -i);
  const auto x = parse(text);
  ASSERT_EQ(x.size(0), 60000);
  EXPECT_TRUE(x.select(1, 0).equal(torch::arange(60000, torch::kFloat64) + 0.25));
  EXPECT_TRUE(x.select(1, 1).equal(-torch::arange(60000, torch::kFloat64)));
}

TEST(Csv, DamageIsNamedWithLineAndColumn) {
  EXPECT_ERROR(parse("1,2\n3,x4\n"), ExitCode::data, "line 2, column 2: 'x4' is not a number");
  EXPECT_ERROR(parse("a,b\n1,2\n"), ExitCode::data, "line 1, column 1: 'a' is not a number");
  EXPECT_ERROR(parse("1,2\n3\n"), ExitCode::data, "line 2 has 1 columns, the first has 2");
  EXPECT_ERROR(parse("1,2,\n"), ExitCode::data, "line 1, column 3: '' is not a number");
  EXPECT_ERROR(parse("1,2\n\n3,4\n"), ExitCode::data, "line 3 follows an empty line");
  EXPECT_ERROR(parse("1,2\n3,4"
                     "5e999\n"),
               ExitCode::data, "'45e999' is not a number");
  EXPECT_ERROR(parse(""), ExitCode::data, "no numbers");
}

}  // namespace
}  // namespace piddm
