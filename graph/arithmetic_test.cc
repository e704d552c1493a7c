// The text of an arithmetic stands for its parts, and any text is kept.
// SPDX-License-Identifier: Apache-2.0

#include "graph/arithmetic.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(Arithmetic, PrintsItsParts) {
  const Arithmetic arithmetic = {
      .source = "onednn 2.6.3",
      .implementation = "gemm:jit avx2",
      .threads = 2,
      .violates = {.tiles = true, .epilogue = true, .denormals = true},
      .relaid = true,
      .rounded_to = DType::kF16};
  const char* const text =
      "onednn 2.6.3 gemm:jit avx2 threads 2 tiles not ieee epilogue not ieee "
      "denormals not ieee in layouts of its own rounded to f16";
  EXPECT_EQ(arithmetic.ToString(), text);
  EXPECT_EQ(Arithmetic::Parse(text), arithmetic);
}

TEST(Arithmetic, OfASourceAlone) {
  EXPECT_EQ(Arithmetic::Parse("exact"), ExactArithmetic());
  EXPECT_EQ(Arithmetic::Parse("eval 1"), Arithmetic{.source = "eval 1"});
  EXPECT_FALSE(Arithmetic::Parse("eval 1").violates.any());
  EXPECT_TRUE(Arithmetic::Parse("a 1 tiles not ieee").violates.any());
}

// Such as that of a newer version.
TEST(Arithmetic, TextThatIsNotRecognisedIsKept) {
  for (const char* text :
       {"", " ", "a", "a ", " a", "a b ", "a  b", "a b  c", "threads 2",
        "a threads 02", "a threads -2", "a threads 99999999999",
        "a rounded to f17", "rounded to nearest even", "a tiles not  ieee",
        "a denormals not ieee tiles not ieee", " rounded to f16",
        "a rounded to f16 rounded to bf16", "a b, then c d threads 2"}) {
    EXPECT_EQ(Arithmetic::Parse(text).ToString(), text);
  }
}

TEST(Arithmetic, ALineListsThoseThatDiffer) {
  const Arithmetics two = {{.source = "a 1", .threads = 2}, {.source = "b"}};
  EXPECT_EQ(ArithmeticsText(two), "a 1 threads 2 | b");
  EXPECT_EQ(ParseArithmetics("a 1 threads 2 | b"), two);
  EXPECT_TRUE(ParseArithmetics("").empty());
  EXPECT_EQ(ArithmeticsText({}), "");
}

}  // namespace
}  // namespace partita
