#include "piddm/eval/table.h"

#include <cmath>
#include <limits>

#include "tests/testing.h"

namespace piddm {
namespace {

Table sample() {
  Table table({"method", "MMSE", "NFE"});
  table.add_row({"teacher", "1.08e-3", "100"});
  table.add_row({"piddm", "0.5", "1"});
  return table;
}

TEST(FormatNumber, GivesThreeSignificantDigits) {
  EXPECT_EQ(format_number(0.5), "0.500");
  EXPECT_EQ(format_number(1), "1.00");
  EXPECT_EQ(format_number(-12.34), "-12.3");
  EXPECT_EQ(format_number(123.4), "123");
  EXPECT_EQ(format_number(0.0012345), "0.00123");
  EXPECT_EQ(format_number(12345), "12345");
}

TEST(FormatNumber, TurnsScientificOutsideTheReadableRange) {
  EXPECT_EQ(format_number(0.00099), "9.90e-4");
  EXPECT_EQ(format_number(-1.234e-12), "-1.23e-12");
  EXPECT_EQ(format_number(123456), "1.23e5");
  EXPECT_EQ(format_number(5e-324), "4.94e-324");
}

TEST(FormatNumber, RoundsBeforeItChoosesTheNotation) {
  EXPECT_EQ(format_number(9.999), "10.0");
  EXPECT_EQ(format_number(99.96), "100");
  EXPECT_EQ(format_number(0.0009999), "0.00100");
  EXPECT_EQ(format_number(99990), "1.00e5");
}

TEST(FormatNumber, NamesWhatIsNoNumber) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "n/a");
  EXPECT_EQ(format_number(std::nan("")), "n/a");
}

TEST(Table, MarkdownAlignsColumns) {
  EXPECT_EQ(sample().markdown(),
            "| method  |    MMSE | NFE |\n"
            "| :------ | ------: | --: |\n"
            "| teacher | 1.08e-3 | 100 |\n"
            "| piddm   |     0.5 |   1 |\n");
}

TEST(Table, TextHasARuleAndNoTrailingBlanks) {
  EXPECT_EQ(sample().text(),
            "method      MMSE  NFE\n"
            "-------  -------  ---\n"
            "teacher  1.08e-3  100\n"
            "piddm        0.5    1\n");
  Table notes({"a", "b"}, {Align::right, Align::left});
  notes.add_row({"100", "long\nnote"});
  notes.add_row({"1", "x"});
  EXPECT_EQ(notes.text(), "  a  b\n---  ---------\n100  long note\n  1  x\n");
}

TEST(Table, CsvQuotesOnlyWhatNeedsIt) {
  Table table({"name", "note"});
  table.add_row({"plain", "a b"});
  table.add_row({"x,y", "say \"hi\""});
  table.add_row({"two\nlines", ""});
  EXPECT_EQ(table.csv(), "name,note\nplain,a b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\n");
}

TEST(Table, MarkdownEscapesItsOwnSyntax) {
  Table table({"p"}, {Align::left});
  table.add_row({"a|b\nc"});
  EXPECT_EQ(table.markdown(), "| p         |\n| :-------- |\n| a\\|b<br>c |\n");
}

TEST(Table, CountsCharactersRatherThanBytes) {
  Table table({"x", "y"}, {Align::left, Align::left});
  table.add_row({"\xCE\xBB", "1"});
  table.add_row({"ab", "2"});
  EXPECT_EQ(table.text(), "x   y\n--  -\n\xCE\xBB   1\nab  2\n");
}

TEST(Table, RefusesRowsOfAnotherLength) {
  Table table = sample();
  EXPECT_ERROR(table.add_row({"one"}), ExitCode::usage, "row of 1 cells in a table of 3");
  EXPECT_ERROR(Table({"a", "b"}, {Align::left}), ExitCode::usage, "1 alignments for 2 columns");
  EXPECT_ERROR(Table({}), ExitCode::usage, "at least one column");
  EXPECT_EQ(table.num_rows(), 2U);
}

}  // namespace
}  // namespace piddm
