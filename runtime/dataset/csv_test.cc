// Tests of tables of numbers, and of the errors for bad cells.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/csv.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "runtime/dataset/testing/sample_text.h"

namespace partita {
namespace {

constexpr char kIris[] =
    "length,width,species\n"
    "5.1,3.5,0\n"
    "4.9,3.0,2\n";

absl::StatusOr<SharedDataset> Parse(absl::string_view text,
                                    const CsvOptions& options) {
  return ParseCsv(BorrowedBytes(text, "t.csv"), options);
}

// All samples, one a line, or the error.
std::string Samples(absl::string_view text, const CsvOptions& options) {
  const auto dataset = Parse(text, options);
  if (!dataset.ok()) return std::string(dataset.status().message());
  std::string lines;
  for (int64_t i = 0; i < (*dataset)->num_samples(); ++i) {
    lines += SampleText(**dataset, i) + "\n";
  }
  return lines;
}

TEST(Csv, ColumnsAreFeaturesAndOneIsTheLabel) {
  const auto dataset = Parse(kIris, {.label = "species"});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "x: f32[2], y: i64[]");
  EXPECT_EQ(Samples(kIris, {.label = "species"}),
            "x 5.1 3.5 | y 0\n"
            "x 4.9 3 | y 2\n");
}

TEST(Csv, TheLabelMayBeGivenByNumberAndMayBeAFloat) {
  const CsvOptions options = {.label = "1",
                              .label_dtype = DType::kF32,
                              .features_field = "in",
                              .label_field = "out"};
  EXPECT_EQ(Samples(kIris, options),
            "in 3.5 0 | out 5.1\n"
            "in 3 2 | out 4.9\n");
}

TEST(Csv, AHexadecimalNumberIsRefused) {
  EXPECT_EQ(Samples("a,b\n1,0x10\n", {}),
            "t.csv:2:3: column b: found \"0x10\"; expected a finite number");
  EXPECT_EQ(Samples("a,b\n1,0x10\n1,16\n", {.label = "b"}),
            "t.csv:2:3: column b: found \"0x10\"; expected a whole number as "
            "the label");
}

TEST(Csv, WithoutALabelAllColumnsAreFeatures) {
  EXPECT_EQ(Samples("1;2\n3;4", {.header = false, .delimiter = ';'}),
            "x 1 2\nx 3 4\n");
}

TEST(Csv, AHeaderIsRecognisedByItsWords) {
  EXPECT_EQ(Samples(kIris, {.header = std::nullopt, .label = "3"}),
            "x 5.1 3.5 | y 0\n"
            "x 4.9 3 | y 2\n");
  EXPECT_EQ(Samples("1,2\n3,4\n", {.header = std::nullopt}), "x 1 2\nx 3 4\n");
}

// A missing value in the first row does not make it a header.
TEST(Csv, AFirstRowOfNamesAndNumbersIsRefused) {
  EXPECT_EQ(
      Samples("1,NA,b\n3,4,a\n",
              {.header = std::nullopt, .label = "3", .label_words = true}),
      "t.csv:1:3: the first row: found \"NA\" beside \"1\"; expected "
      "finite numbers, or the names of all columns; correct the cell, or give "
      "the label's column by its name");
  EXPECT_EQ(
      Samples("kind,0,1\n7,3,4\n", {.header = std::nullopt, .label = "kind"}),
      "x 3 4 | y 7\n");
}

TEST(Csv, QuotesSpacesMarksAndLineEndsOfOthersAreRead) {
  EXPECT_EQ(Samples("\xef\xbb\xbf\"a \"\"b\"\", c\" ,d\r\n"
                    "\r\n"
                    " \"1\" , +2e0 \r\n"
                    "\t3,\"4\"\r\n"
                    "\n",
                    {.label = "a \"b\", c"}),
            "x 2 | y 1\n"
            "x 4 | y 3\n");
  EXPECT_EQ(Samples("a,\"b\nc\"\n1,2\n", {.label = "b\nc"}), "x 1 | y 2\n");
}

TEST(Csv, AWholeLabelMayBeWrittenWithAFraction) {
  EXPECT_EQ(Samples("a,b\n1,3.0\n", {.label = "b"}), "x 1 | y 3\n");
  EXPECT_EQ(Samples("a,b\n1,3.5\n", {.label = "b"}),
            "t.csv:2:3: column b: found \"3.5\"; expected a whole number as "
            "the label");
}

constexpr char kWords[] =
    "length,species\n"
    "5.1,setosa\n"
    "6.3,virginica\n"
    "4.9,\"setosa\"\n"
    "5.5,versicolor\n";

TEST(Csv, LabelsMayBeWordsInTheOrderOfTheirBytes) {
  const CsvOptions options = {.label = "species", .label_words = true};
  EXPECT_EQ(Samples(kWords, options),
            "x 5.1 | y 0\nx 6.3 | y 2\nx 4.9 | y 0\nx 5.5 | y 1\n");
  EXPECT_EQ(Samples(kIris, options), Samples(kIris, {.label = "species"}));
  EXPECT_EQ(Samples(kWords, {.label = "species"}),
            "t.csv:2:5: column species: found \"setosa\"; expected a whole "
            "number as the label");
}

TEST(Csv, WordsMayComeFromAnotherTable) {
  CsvOptions options = {.label = "species",
                        .label_words = true,
                        .known_words = {"setosa", "versicolor", "virginica"}};
  EXPECT_EQ(Samples("length,species\n6,virginica\n5,setosa\n", options),
            "x 6 | y 2\nx 5 | y 0\n");
  EXPECT_EQ(Samples("length,species\n6,rosa\n", options),
            "t.csv:2:3: column species: found \"rosa\"; expected one of "
            "setosa, versicolor, virginica, as in the first table");
  EXPECT_EQ(Samples("length,species\n6,0\n", options),
            "t.csv:2:3: column species: found \"0\"; expected one of "
            "setosa, versicolor, virginica, as in the first table");
  EXPECT_EQ(Samples("length,species\n6,\n", options),
            "t.csv:2:3: column species: found \"\"; expected one of "
            "setosa, versicolor, virginica, as in the first table");
  options.known_words.assign(12, "a");
  EXPECT_EQ(Samples("length,species\n6,b\n", options),
            "t.csv:2:3: column species: found \"b\"; expected one of a, a, a, "
            "a, a, a, a, a, a, a, ..., as in the first table");
}

// The first label decides between words and numbers; a missing label is
// neither.
TEST(Csv, WordsAndNumbersAreNotMixed) {
  const CsvOptions options = {.label = "b", .label_words = true};
  EXPECT_EQ(Samples("a,b\n1,2\n1,two\n", options),
            "t.csv:3:3: column b: found \"two\"; expected a whole number as "
            "the label");
  for (const std::string number : {"2", "0.5", "nan", ""}) {
    EXPECT_EQ(Samples("a,b\n1,two\n1," + number + "\n", options),
              "t.csv:3:3: column b: found \"" + number +
                  "\"; expected a word as the label, as in the rows before");
    if (number == "2") continue;
    EXPECT_EQ(Samples("a,b\n1," + number + "\n1,two\n", options),
              "t.csv:2:3: column b: found \"" + number +
                  "\"; expected a whole number as the label");
  }
  EXPECT_EQ(Samples("a,b\n1,\xc3\xa4\n1,\xff\n", options),
            "t.csv:3:3: column b: found \"\xff\"; expected a word in UTF-8");
}

// If the column is given by number, a word in it does not make a header.
TEST(Csv, AWordAsALabelIsNotAHeader) {
  const CsvOptions options = {
      .header = std::nullopt, .label = "2", .label_words = true};
  EXPECT_EQ(Samples("5,b\n6,a\n", options), "x 5 | y 1\nx 6 | y 0\n");
  EXPECT_EQ(Samples("length,species\n5,b\n6,a\n", options),
            "x 5 | y 1\nx 6 | y 0\n");
}

TEST(Csv, ACellThatIsNotANumberIsReportedWithLineAndColumn) {
  EXPECT_EQ(Samples("a,b\n1,2\n3, four\n", {}),
            "t.csv:3:4: column b: found \"four\"; expected a finite number");
  EXPECT_EQ(Samples("a,b\n1,\n", {}),
            "t.csv:2:3: column b: found \"\"; expected a finite number");
  EXPECT_EQ(Samples("a,b\nnan,1\n", {}),
            "t.csv:2:1: column a: found \"nan\"; expected a finite number");
  EXPECT_EQ(Samples("a,b\n1e39,1\n", {}),
            "t.csv:2:1: column a: found \"1e39\"; expected a finite number");
  EXPECT_EQ(Samples("1,2\n3,x\n", {.header = false}),
            "t.csv:2:3: column 2: found \"x\"; expected a finite number");
  EXPECT_EQ(Samples("a\n" + std::string(60, 'z'), {}),
            "t.csv:2:1: column a: found \"" + std::string(40, 'z') +
                "...\"; expected a finite number");
}

TEST(Csv, AnUnannouncedHeaderIsSuggested) {
  EXPECT_EQ(Samples(kIris, {.header = false}),
            "t.csv:1:1: column 1: found \"length\"; expected a finite number; "
            "if this row names the columns, give the label's column by its "
            "name, or state that the file has a header");
}

TEST(Csv, ARowOfAnotherLengthIsRefused) {
  EXPECT_EQ(Samples("a,b\n1,2\n1,2,3\n", {}),
            "t.csv:3: found 3 cells; expected 2, as in line 1; a delimiter "
            "inside a cell needs quotes around the cell");
}

TEST(Csv, QuotesMustEndWithTheCell) {
  EXPECT_EQ(Samples("a,b\n1,\"2\n", {}),
            "t.csv:2:3: found a quote that is never closed; expected one at "
            "the cell's end");
  EXPECT_EQ(Samples("a,b\n1,\"2\"3\n", {}),
            "t.csv:2:3: found characters after a closing quote; expected the "
            "delimiter or the end of the line; write a quote inside quotes "
            "twice");
}

TEST(Csv, ALabelThatSeveralColumnsHaveAsNameIsRefused) {
  EXPECT_EQ(Samples("a,b,a\n1,2,3\n", {.label = "a"}),
            "t.csv: found several columns a; expected one; give the label's "
            "column by its number, from 1");
}

TEST(Csv, ALabelThatIsNoColumnIsRefused) {
  EXPECT_EQ(Samples(kIris, {.label = "kind"}),
            "t.csv: found no column kind; expected one of length, width, "
            "species, or a number from 1 to 3");
  EXPECT_EQ(Samples("1,2\n", {.header = false, .label = "3"}),
            "t.csv: found no column 3; expected a number from 1 to 2");
  EXPECT_EQ(Samples("y\n1\n", {.label = "y"}),
            "t.csv: found no column besides the label's; expected one or more");
}

TEST(Csv, AListOfColumnsIsShort) {
  EXPECT_EQ(ColumnList({"a", "\xc3\xa4", "c\r1"}), "a, \xc3\xa4, c\\r1");
  EXPECT_EQ(ColumnList(std::vector<std::string>(11, "a")),
            "a, a, a, a, a, a, a, a, a, a, ...");
  std::string letters;
  for (int i = 0; i < 41; ++i) letters += "\xc3\xa4";
  EXPECT_EQ(ColumnList({letters}), letters.substr(0, 80) + "...");
}

TEST(Csv, LinesThatEndInACarriageReturnAloneAreReported) {
  std::string text = "a,b\r";
  for (int i = 0; i < 100; ++i) text += "1,2\r";
  EXPECT_EQ(Samples(text, {.label = "kind"}),
            "t.csv: found no column kind; expected one of a, b\\r1, 2\\r1, "
            "2\\r1, 2\\r1, 2\\r1, 2\\r1, 2\\r1, 2\\r1, 2\\r1, ..., or a "
            "number from 1 to 102; end lines with a line feed; carriage "
            "returns (\\r) alone do not end lines");
  EXPECT_EQ(Samples(text, {.label = "a"}),
            "t.csv: found no row of numbers; expected one or more; end lines "
            "with a line feed; carriage returns (\\r) alone do not end lines");
}

TEST(Csv, ATableWithoutNumbersIsRefused) {
  EXPECT_EQ(Samples("\n\n", {}), "t.csv: found no row; expected one or more");
  EXPECT_EQ(Samples("a,b\n", {}),
            "t.csv: found no row of numbers; expected one or more");
}

TEST(Csv, InvalidOptionsAreRefused) {
  EXPECT_EQ(Samples(kIris, {.label_dtype = DType::kF16}),
            "csv options: found label dtype f16; expected i64 or f32");
  EXPECT_EQ(Samples(kIris, {.delimiter = '"'}),
            "csv options: found a quote or line end as the delimiter; expected "
            "another character");
}

}  // namespace
}  // namespace partita
