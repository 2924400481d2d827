#include "piddm/core/table.h"

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

TEST(Table, EmphasisIsBoldWhereTheFormatHasIt) {
  Table table = sample();
  const std::string text = table.text(), csv = table.csv();
  table.emphasise(1, 1);
  EXPECT_EQ(table.markdown(),
            "| method  |    MMSE | NFE |\n"
            "| :------ | ------: | --: |\n"
            "| teacher | 1.08e-3 | 100 |\n"
            "| piddm   | **0.5** |   1 |\n");
  EXPECT_THAT(table.latex(), ::testing::HasSubstr("piddm & \\textbf{0.5} & 1 \\\\\n"));
  EXPECT_THAT(table.html(), ::testing::HasSubstr("<td class=\"r\"><strong>0.5</strong></td>"));
  EXPECT_EQ(table.text(), text);
  EXPECT_EQ(table.csv(), csv);
}

TEST(Table, EmphasisNeedsACell) {
  Table table = sample();
  EXPECT_ERROR(table.emphasise(2, 0), ExitCode::usage, "no cell in row 2, column 0 of a table of 2 rows and 3 columns");
  EXPECT_ERROR(table.emphasise(0, 3), ExitCode::usage, "row 0, column 3");
  table.add_row({"eci", "", "500"});
  table.emphasise(2, 1);
  EXPECT_THAT(table.latex(), ::testing::HasSubstr("eci &  & 500"));
}

TEST(Table, LatexIsATabularWithBooktabsRules) {
  EXPECT_EQ(sample().latex(),
            "\\begin{tabular}{lrr}\n\\toprule\nmethod & MMSE & NFE \\\\\n\\midrule\n"
            "teacher & 1.08e-3 & 100 \\\\\npiddm & 0.5 & 1 \\\\\n\\bottomrule\n\\end{tabular}\n");
}

TEST(Table, LatexEscapesItsOwnSyntax) {
  Table table({"pde_error"}, {Align::left});
  table.add_row({"50 % & $3 #1 {a}\n~^<>|\\"});
  EXPECT_THAT(table.latex(), ::testing::HasSubstr("pde\\_error"));
  EXPECT_THAT(table.latex(), ::testing::HasSubstr("50 \\% \\& \\$3 \\#1 \\{a\\} \\textasciitilde{}\\textasciicircum{}"
                                                  "\\textless{}\\textgreater{}\\textbar{}\\textbackslash{} \\\\"));
}

TEST(Table, HtmlMarksNumbersAndEscapesText) {
  Table table({"a<b", "n"});
  table.add_row({"R&D\n\"x\"", "1"});
  EXPECT_EQ(table.html(),
            "<table>\n<thead>\n<tr><th>a&lt;b</th><th class=\"r\">n</th></tr>\n</thead>\n<tbody>\n"
            "<tr><td>R&amp;D<br>&quot;x&quot;</td><td class=\"r\">1</td></tr>\n</tbody>\n</table>\n");
}

TEST(Table, HtmlMarksCellsThatShouldWrap) {
  Table table({"n"}, {Align::right});
  table.add_row({std::string(41, 'x')});
  EXPECT_THAT(table.html(), ::testing::HasSubstr("<td class=\"long\">xxx"));
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
