// Tests flags in both spellings: what is read, and every refusal.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/arguments.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

std::vector<std::string> Colours() { return {"red", "green"}; }

constexpr FlagDef kFlags[] = {
    {"depth", "N", "how deep"},
    {"colour", "NAME", "which", Colours},
    {"dim", "NAME=N", "an extent", nullptr, FileUse::kNone, /*repeats=*/true},
    {"sharded-updates", "KIB", "how large"},
    {"fast", nullptr, "a switch"},
};

absl::StatusOr<Arguments> OfWords(const std::vector<const char*>& words) {
  return Arguments::Parse(words, kFlags);
}

absl::StatusOr<Arguments> OfKeys(
    const std::vector<absl::string_view>& options) {
  return Arguments::ParseKeys("model.onnx", options, kFlags);
}

// The message of a wrong call, whose code is the same in both spellings.
std::string Refusal(const absl::StatusOr<Arguments>& arguments) {
  EXPECT_TRUE(absl::IsInvalidArgument(arguments.status()));
  EXPECT_TRUE(IsCalledWrongly(arguments.status()));
  return std::string(arguments.status().message());
}

TEST(ArgumentsTest, WordsAndKeysGiveTheSame) {
  const auto words = OfWords(
      {"model.onnx", "--depth", "2", "--dim=b=8", "--dim", "s=4", "--fast"});
  const auto keys = OfKeys({"depth=2", "dim=b=8", "dim=s=4", "fast=true"});
  for (const auto& arguments : {words, keys}) {
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    EXPECT_EQ(arguments->positional(), std::vector<std::string>{"model.onnx"});
    EXPECT_EQ(arguments->GetInt("depth", 1, 1, 9).value(), 2);
    using Bindings = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(arguments->GetBindings("dim").value(),
              (Bindings{{"b", "8"}, {"s", "4"}}));
    EXPECT_TRUE(arguments->has("fast"));
    EXPECT_FALSE(arguments->has("colour"));
  }
}

TEST(ArgumentsTest, ASwitchThatIsOffIsLeftOut) {
  EXPECT_FALSE(OfKeys({"fast=false"})->has("fast"));
  EXPECT_EQ(Refusal(OfKeys({"fast=yes"})),
            "fast: found yes; expected true or false");
  EXPECT_EQ(Refusal(OfKeys({"fast="})),
            "fast: found no value; expected true or false");
  EXPECT_EQ(Refusal(OfKeys({"fast=false", "fast=true"})),
            "fast: found it twice; expected it once");
  EXPECT_EQ(Refusal(OfWords({"--fast=true"})),
            "--fast: found a value; expected none");
}

TEST(ArgumentsTest, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_EQ(Refusal(OfWords({"--dept", "2"})),
            "--dept: found no such flag; expected one of those that --help "
            "lists; did you mean --depth?");
  EXPECT_EQ(Refusal(OfKeys({"dept=2"})),
            "dept: found no such option; expected one of: depth, colour, dim, "
            "sharded-updates, fast; did you mean depth?");
  EXPECT_EQ(Refusal(OfKeys({"divided-updates=2"})),
            "divided-updates: found the former name of sharded-updates; "
            "expected sharded-updates");
  EXPECT_EQ(Refusal(OfWords({"--divided-updates", "2"})),
            "--divided-updates: found the former name of --sharded-updates; "
            "expected --sharded-updates");
}

// Each is refused in both spellings, by the same text after the name.
TEST(ArgumentsTest, WrongValuesAreRefused) {
  const std::vector<std::vector<std::string>> wrong = {
      {"depth", "", "found no value; expected N"},
      {"colour", "gren",
       "found gren; expected one of: red, green; did you mean green?"},
      {"dim", "8", "found 8; expected NAME=N"},
  };
  for (const std::vector<std::string>& row : wrong) {
    const std::string option = absl::StrCat(row[0], "=", row[1]);
    const std::string flag = absl::StrCat("--", option);
    const std::string refusal = absl::StrCat(row[0], ": ", row[2]);
    EXPECT_EQ(Refusal(OfKeys({option})), refusal);
    EXPECT_EQ(Refusal(OfWords({flag.c_str()})), absl::StrCat("--", refusal));
  }
  EXPECT_EQ(Refusal(OfKeys({"depth"})),
            "option depth: found no =; expected KEY=VALUE, as in depth=2");
}

TEST(ArgumentsTest, WhatDoesNotRepeatIsGivenOnce) {
  EXPECT_EQ(Refusal(OfKeys({"depth=1", "depth=2"})),
            "depth: found 1 and 2; expected one N");
  EXPECT_EQ(Refusal(OfWords({"--depth", "1", "--depth", "2"})),
            "--depth: found 1 and 2; expected one N");
  const auto bindings = OfKeys({"dim=b=1", "dim=b=2"})->GetBindings("dim");
  EXPECT_EQ(bindings.status().message(),
            "dim: found b twice; expected one value for it");
}

TEST(ArgumentsTest, NumbersOutOfRangeAreRefused) {
  const auto depth = [](absl::string_view option) {
    return std::string(
        OfKeys({option})->GetInt("depth", 1, 1, 64).status().message());
  };
  EXPECT_EQ(depth("depth=0"), "depth: found 0; expected an integer in 1..64");
  EXPECT_EQ(depth("depth=2.5"),
            "depth: found 2.5; expected an integer in 1..64");
  EXPECT_EQ(depth("depth=99999999999999999999"),
            "depth: found 99999999999999999999; expected an integer in 1..64");
}

}  // namespace
}  // namespace partita
