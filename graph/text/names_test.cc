// Tests the spelling of names, and suggestions for misspelt ones.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/names.h"

#include <gtest/gtest.h>

#include <string>

namespace partita {
namespace {

TEST(Names, OrdinaryNamesAreBareAndOthersQuoted) {
  EXPECT_EQ(NameText("conv1/weights.0"), "conv1/weights.0");
  EXPECT_EQ(NameText("123"), "\"123\"");
  EXPECT_EQ(NameText("a:0"), "\"a:0\"");
  EXPECT_EQ(NameText(""), "\"\"");
  EXPECT_EQ(WordText("gpu:0"), "gpu:0");
  EXPECT_EQ(WordText("gpu:"), "\"gpu:\"");
  EXPECT_EQ(WordText("a b"), "\"a b\"");
}

TEST(Names, AnyBytesSurviveQuotes) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  const std::string quoted = Quoted(bytes);
  EXPECT_EQ(Unquoted(quoted), bytes);
  for (char c : quoted) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
}

TEST(Names, MalformedStringsAreRefused) {
  for (absl::string_view text : {"", "\"", "a", "\"a", "\"a\"b\"", "\"\\\"",
                                 "\"\\q\"", "\"\\x1\"", "\"\\xGG\""}) {
    EXPECT_EQ(Unquoted(text), std::nullopt) << text;
  }
}

TEST(Names, AFileNameIsOneUniqueComponent) {
  EXPECT_EQ(FileName("sigmoid_0.tmp-1"), "sigmoid_0.tmp-1");
  EXPECT_EQ(FileName("../a/b"), "..%2fa%2fb");
  EXPECT_EQ(FileName("a%2fb"), "a%252fb");
  EXPECT_EQ(FileName(absl::string_view("\0\n\xff", 3)), "%00%0a%ff");
}

TEST(Names, AFileNameIsNeverTooLong) {
  EXPECT_EQ(FileName(std::string(kMostOfFileName, 'n')),
            std::string(kMostOfFileName, 'n'));
  const std::string name = FileName(std::string(300, 'n'));
  EXPECT_EQ(name.substr(0, 162), std::string(160, 'n') + "%-");
  EXPECT_EQ(name.size(), 194);
  EXPECT_NE(FileName(std::string(300, 'n') + "m"), name);
  EXPECT_NE(FileName(name), name);  // a name that looks like that of another
  EXPECT_LE(FileName(std::string(100, '\xff')).size(), kMostOfFileName);
}

TEST(Names, RepeatedNamesGetAnUnusedSuffix) {
  LiteralPool literals;
  Graph graph("f", &literals);
  for (absl::string_view name : {"a", "a", "", "a_1", "a", ""}) {
    graph.AddInput(std::string(name), {});
  }
  EXPECT_EQ(ValueNames(graph),
            (std::vector<std::string>{"a", "a_2", "0", "a_1", "a_3", "1"}));
}

TEST(Names, TheClosestKeepTheirOrder) {
  const std::vector<std::string> known = {"softmax", "conv", "softsign",
                                          "hardmax"};
  EXPECT_EQ(ClosestNames("sofmax", known, 2),
            (std::vector<std::string>{"softmax", "hardmax"}));
  EXPECT_EQ(ClosestNames("x", known, 9), known);
}

TEST(Names, DistantNamesAreNotSuggested) {
  const std::vector<std::string> known = {"ieee", "help", "machine"};
  EXPECT_EQ(ProbablyMeant("hlep", known), "help");
  EXPECT_EQ(ProbablyMeant("machin", known), "machine");
  const std::vector<std::string> ops = {"elu", "relu"};
  EXPECT_EQ(ProbablyMeant("rleu", ops), "relu");  // a swap
  EXPECT_EQ(ProbablyMeant("fly", known), std::nullopt);
  EXPECT_EQ(ProbablyMeant(std::string(1000, 'u'), known), std::nullopt);
  EXPECT_EQ(ProbablyMeant("help", {}), std::nullopt);
}

}  // namespace
}  // namespace partita
