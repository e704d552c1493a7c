// Tests that text survives a round trip through a module, and exact error
// messages.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/text/printer.h"

namespace partita {
namespace {

std::string Reprinted(absl::string_view text) {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  return module.ok() ? PrintModule(*module)
                     : std::string(module.status().message());
}

std::string Fault(absl::string_view text) {
  absl::StatusOr<Module> module =
      ParseModule(text, "mlp.graph", OpSet::BuiltIn());
  return module.ok() ? "no fault" : std::string(module.status().message());
}

void ExpectSameText(absl::string_view text) {
  EXPECT_EQ(Reprinted(text), text);
}

TEST(Parser, AGraphRoundTrips) {
  ExpectSameText(
      R"(graph @mlp(%x: f32[32, 784], %w1: f32[784, 256], %w2: f32[256, 10]) -> f32[32, 10] {
  %a = matmul %x, %w1 : f32[32, 256]
  %h = relu %a : f32[32, 256] on gpu:0
  %y = matmul %h, %w2 : f32[32, 10] on gpu:1
  %p = softmax %y {axis = 1} : f32[32, 10]
  return %p
}
)");
}

TEST(Parser, SpacesCommentsAndMissingTypesAreFilledIn) {
  EXPECT_EQ(Reprinted(R"(// A comment.

graph @f(
    %x: f32[2,3], %w: f32[3, 4])   ->   (f32[2, 4])   {
  %a=matmul %x,%w   // and another

  %h = relu %a      : f32[2, 4]   on gpu:0
  return %h
})"),
            R"(graph @f(%x: f32[2, 3], %w: f32[3, 4]) -> f32[2, 4] {
  %a = matmul %x, %w : f32[2, 4]
  %h = relu %a : f32[2, 4] on gpu:0
  return %h
}
)");
}

TEST(Parser, ValuesWithoutANameAreNumberedInOrder) {
  EXPECT_EQ(Reprinted(R"(graph @f(%7: f32[2]) -> (f32[2], f32[2]) {
  %3 = relu %7
  %named = neg %3
  %"3" = neg %3
  %"a\"b\x01" = add %named, %"3"
  return %"a\"b\x01", %3
}
)"),
            R"(graph @f(%0: f32[2]) -> (f32[2], f32[2]) {
  %1 = relu %0 : f32[2]
  %named = neg %1 : f32[2]
  %"3" = neg %1 : f32[2]
  %"a\"b\x01" = add %named, %"3" : f32[2]
  return %"a\"b\x01", %1
}
)");
}

TEST(Parser, AttributesEqualToTheirDefaultAreNotPrinted) {
  EXPECT_EQ(Reprinted(R"(graph @f(%x: f32[2, 2]) -> f32[2, 2] {
  %a = matmul %x, %x {transpose_b = false, transpose_a = true}
  return %a as result
}
)"),
            R"(graph @f(%x: f32[2, 2]) -> f32[2, 2] {
  %a = matmul %x, %x {transpose_a = true} : f32[2, 2]
  return %a as result
}
)");
}

TEST(Parser, SmallConstantsRoundTripExactly) {
  ExpectSameText(R"(graph @f() -> f32[] {
  %a = constant f32[6] [0.1, -0, 1e-45, 3.4028235e+38, inf, -inf]
  %b = constant f32[4] [nan, -nan, nan:7f800001, 16777216]
  %c = constant f64[2] [0.1, 5e-324]
  %d = constant f16[4] [0.1, 65504, nan, 6e-08]
  %e = constant bf16[3] [0.1, 3.39e+38, -inf]
  %f = constant i64[2] [-9223372036854775808, 9223372036854775807]
  %g = constant u64[1] [18446744073709551615]
  %h = constant u8[2, 2] [0, 1, 254, 255]
  %i = constant bool[2] [true, false]
  %j = constant f32[0] []
  %k = constant f32[] 2.5
  return %k
}
)");
}

TEST(Parser, LargeConstantsAreNamedByTheirHash) {
  Module module;
  Graph& graph = module.AddFunction("f");
  const LiteralId literal = module.literals().Add(
      HostTensor::Of<float>({20}, std::vector<float>(20, 1.5f)));
  graph.SetOutputs({graph.AddConstant(literal, "c")});
  const std::string text = PrintModule(module);
  const std::string hash = module.literals().hash(literal).ToString();
  EXPECT_EQ(text, absl::StrCat("graph @f() -> f32[20] {\n"
                               "  %c = constant f32[20] #",
                               hash, "\n  return %c\n}\n"));

  absl::StatusOr<Module> alone = ParseModule(text, "t", OpSet::BuiltIn());
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_FALSE(alone->literals().has_bytes(LiteralId(0)));
  EXPECT_EQ(PrintModule(*alone), text);

  Module with_bytes;
  with_bytes.literals().Add(
      HostTensor::Of<float>({20}, std::vector<float>(20, 1.5f)));
  ASSERT_TRUE(ParseIntoModule(text, "t", OpSet::BuiltIn(), with_bytes).ok());
  EXPECT_EQ(with_bytes.literals().size(), 1);
  EXPECT_NE(with_bytes.main().ops()[0].result(0).constant(), nullptr);
}

TEST(Parser, LayoutsPlacementsKernelsAndOriginsRoundTrip) {
  ExpectSameText(
      R"(graph @f(
    %x: f32[4, 32, 8, 8]{abcd16b} on {gpu:0, gpu:1} -> (split 0),
    %y: f32[4] on cpu:0) -> f32[4, 32, 8, 8]{acdb} {
  %a = relu %x : f32[4, 32, 8, 8]{abcd16b} on {gpu:0, gpu:1} (split 0) -> (split 1 by 16)
      by onednn.relu {workspace = 64, in_place = [0 -> 0], arithmetic = "onednn 2.6.3 \"avx512\""}
  %b = relu %a : f32[4, 32, 8, 8]{acdb} on {gpu:0, "odd name"} (split 0) -> (partial max) by eval
      scope "encoder/layer3" at "model.cc:12"
  %c = constant f32[2, 2]{ba} [1, 2, 3, 4] : f32[2, 2] on cpu:0
  return %b
}
)");
}

TEST(Parser, BodiesNest) {
  ExpectSameText(R"(graph @f(%x: f32[2], %y: f32[2]) -> (f32[2], f32[2]) {
  %a, %b = fused %x, %y @body(%p: f32[2], %q: f32[2]) {
    %0 = add %p, %q : f32[2]
    %1 = fused %0 (%r: f32[2]) {
      %s = neg %r : f32[2]
      return %s
    } : f32[2]
    return %0, %1
  } : f32[2], f32[2] on cpu:0
  return %a, %b
}
)");
}

TEST(Parser, LongHeadsTakeALineForEachInput) {
  ExpectSameText(R"(graph @f(
    %first: f32[2, 3, 4],
    %second: f32[2, 3, 4],
    %third: f32[2, 3, 4],
    %fourth: f32[2, 3, 4]) -> f32[2, 3, 4] {
  %result = fused %first, %second, %third, %fourth @body(
      %first: f32[2, 3, 4],
      %second: f32[2, 3, 4],
      %third: f32[2, 3, 4],
      %fourth: f32[2, 3, 4]) {
    %result = add %first, %fourth : f32[2, 3, 4]
    return %result
  } : f32[2, 3, 4]
  return %result
}
)");
}

TEST(Parser, AFaultyLongHeadSkipsItsBody) {
  EXPECT_EQ(Fault(R"(graph @f(
    %x: f32[2),
    %y: f32[2]) -> f32[2] {
  %a = nothing %b
  return %a
}
)"),
            R"(mlp.graph:2:14: found ); expected , or ]
      %x: f32[2),
               ^)");
}

TEST(Parser, FunctionsShareVariables) {
  ExpectSameText(R"(variable @w: f32[2] trainable = f32[2] [1, 2]
variable @"odd name": i32[]

graph @train(%x: f32[2]) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  %n = sub %w, %x : f32[2]
  update @w = %n
  return %n
}

graph @evaluate() -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  return %w
}
)");
}

TEST(Parser, AnUnknownValueIsShownWithKnownOnes) {
  EXPECT_EQ(
      Fault(
          R"(graph @mlp(%x: f32[32, 784], %w1: f32[784, 256], %w2: f32[256, 10]) -> f32[32, 256] {
  // The example of the style guide.
  %a = matmul %x, %w3 : f32[32, 256]
  return %a
}
)"),
      R"(mlp.graph:3:19: unknown value %w3
    %a = matmul %x, %w3 : f32[32, 256]
                    ^~~
  known here: %x, %w1, %w2)");
}

TEST(Parser, ErrorsOfAnOpAreShownAtTheOp) {
  EXPECT_EQ(
      Fault(R"(graph @f(%y: f32[32, 10]) -> f32[32, 10] {
  %p = softmax %y {axis = 3} : f32[32, 10]
  return %p
}
)"),
      R"(mlp.graph:2:8: softmax %p: found axis 3 on f32[32, 10]; expected -2..1; use axis = -1 for the innermost dimension
    %p = softmax %y {axis = 3} : f32[32, 10]
         ^~~~~~~)");
}

TEST(Parser, AnUnknownOpIsShownWithSimilarOnes) {
  OpSet ops;
  ops.Add({&kConstant, &kFused, &kVariable});
  absl::StatusOr<Module> module = ParseModule(
      "graph @f() -> f32[] {\n  %a = varable\n  return %a\n}", "t", ops);
  EXPECT_EQ(module.status().message(), R"(t:2:8: unknown op varable
    %a = varable
         ^~~~~~~
  known here: constant, fused, variable; did you mean variable?)");
}

TEST(Parser, SeveralFaultsAreReportedAndNoneTwice) {
  EXPECT_EQ(Fault(R"(graph @f(%x: f32[2]) -> f32[2] {
  %a = relu %z : f32[2]
  %b = relu %a : f32[2]
  %c = relu %x : f32[3]
  %d = relu %x {slope = 1} : f32[2]
  %e = relu %x : f99[2]
  %f = relu %x : f32[2] with
  %x = relu %x : f32[2]
  return %c
}
grph
)"),
            R"(mlp.graph:2:13: unknown value %z
    %a = relu %z : f32[2]
              ^~
  known here: %x
mlp.graph:4:18: relu %c: found f32[3] in the text; expected f32[2], which the op gives; correct or leave out the type
    %c = relu %x : f32[3]
                   ^~~
mlp.graph:5:17: unknown attribute slope of relu
    %d = relu %x {slope = 1} : f32[2]
                  ^~~~~
  known here: none
mlp.graph:6:18: found f99; expected a dtype: f64, f32, f16, bf16, i64, i32, i16, i8, u8, u16, u32, u64 or bool
    %e = relu %x : f99[2]
                   ^~~
mlp.graph:7:25: found with; expected the end of the line
    %f = relu %x : f32[2] with
                          ^~~~
mlp.graph:8:3: found a second definition of %x; expected another name
    %x = relu %x : f32[2]
    ^~
mlp.graph:11:1: found grph; expected graph or variable
  grph
  ^~~~)");
}

TEST(Parser, AFaultInABodyDoesNotHideTheRest) {
  EXPECT_EQ(Fault(R"(graph @f(%x: f32[2]) -> f32[2] {
  %a = fused %x (%p: f32[2]) {
    %q = neg %x
    return %q
  } : f32[2]
  %b = neg %y
  return %a
}
)"),
            R"(mlp.graph:3:14: unknown value %x
      %q = neg %x
               ^~
  known here: %p
mlp.graph:6:12: unknown value %y
    %b = neg %y
             ^~
  known here: %x)");
}

TEST(Parser, AFaultyHeaderSkipsItsBody) {
  EXPECT_EQ(Fault(R"(graph @f(%x: f32[2) -> f32[2] {
  %a = nothing %b
  return %a
}
graph @g() -> f32[] {
  return %a
}
)"),
            R"(mlp.graph:1:19: found ); expected , or ]
  graph @f(%x: f32[2) -> f32[2] {
                    ^
mlp.graph:6:10: unknown value %a
    return %a
           ^~
  known here: none)");
}

// Names of results must differ, except in a body. Some models use whole scope
// paths as names.
TEST(Parser, NamesMayBeOfAnyLength) {
  const std::string bare(5000, 'a');
  const std::string quoted = absl::StrCat("\"", std::string(5000, ' '), "\"");
  const std::string once = Reprinted(absl::StrCat(
      "graph @", bare, "(%", quoted, ": f32[2]) -> f32[2] {\n  %", bare,
      " = relu %", quoted, " : f32[2]\n  return %", bare, "\n}\n"));
  EXPECT_EQ(once.rfind("graph @aaa", 0), 0u) << once;
  ExpectSameText(once);
}

TEST(Parser, ResultsOfOneNameAreRefused) {
  EXPECT_EQ(
      Fault(R"(graph @f(%x: f32[2]) -> (f32[2], f32[2]) {
  %a, %b = fused %x (%p: f32[2]) {
    return %p, %p
  } : f32[2], f32[2]
  return %a as y, %b as y
}
graph @g(%x: f32[2]) -> (f32[2], f32[2]) {
  return %x, %x
}
)"),
      R"(mlp.graph:5:25: found a second result called y; expected another name
    return %a as y, %b as y
                          ^
mlp.graph:8:14: found a second result called x; expected another name
    return %x, %x
               ^~)");
}

TEST(Parser, NoMoreThanTwentyFaultsAreShown) {
  std::string text = "graph @f() -> f32[] {\n";
  for (int i = 0; i < 30; ++i) absl::StrAppend(&text, "  %a = b\n");
  const std::string fault = Fault(text);
  EXPECT_NE(fault.find("mlp.graph:21:8: unknown op b"), std::string::npos);
  EXPECT_EQ(fault.find("mlp.graph:22:"), std::string::npos);
}

TEST(Parser, SizesAreBoundedBeforeTheyAreUsed) {
  EXPECT_EQ(
      Fault("graph @f(%x: f32[99999999999, 99999999999]) -> f32[] {\n}"),
      R"(mlp.graph:1:14: found f32[99999999999, 99999999999], which takes more than 70368744177664 bytes; expected a smaller tensor
  graph @f(%x: f32[99999999999, 99999999999]) -> f32[] {
               ^~~)");
  EXPECT_EQ(
      Fault("variable @w: f32[99999999999999999999]"),
      R"(mlp.graph:1:18: found 99999999999999999999; expected an integer of 64 bits
  variable @w: f32[99999999999999999999]
                   ^~~~~~~~~~~~~~~~~~~~)");
  EXPECT_EQ(
      Fault("variable @w: f32[1000000000] = f32[1000000000] [1]"),
      R"(mlp.graph:1:48: found 1 elements; expected 1000000000 for f32[1000000000]
  variable @w: f32[1000000000] = f32[1000000000] [1]
                                                 ^)");
  std::string deep = "graph @f(%x: f32[]) -> f32[] {\n";
  for (int i = 0; i < 100000; ++i) {
    absl::StrAppend(&deep, "%x", i, " = fused %x (%x: f32[]) {\n");
  }
  EXPECT_NE(Fault(deep).find("expected at most 16 bodies in one another"),
            std::string::npos);
}

// Changes bytes of a valid text at random: if the result parses, it prints and
// parses again to the same text.
TEST(Parser, AnyBytesAreSafe) {
  const std::string good =
      R"(variable @w: f32[2] trainable = f32[2] [1, 2]
graph @f(%x: f32[2, 3] on {gpu:0, gpu:1} -> (split 1 by 3)) -> f32[3, 2] {
  %c = constant f32[3] [1, -nan, 1e-5]
  %a, %b = fused %x, %c (%p: f32[2, 3], %q: f32[3]) {
    %s = add %p, %q : f32[2, 3]
    return %s, %p
  } : f32[2, 3]{ba}, f32[2, 3] on cpu:0 by eval {in_place = [0 -> 1]} at "x"
  %t = transpose %a {perm = [1, 0]} : f32[3, 2]
  update @w = %t
  return %t as "out"
}
)";
  ASSERT_EQ(Fault(good), "no fault");
  constexpr char kBytes[] = "{}()[]%@#\"\\:,=-> \n0123456789abfinx.\xff\x00/";
  std::mt19937 random(1);
  int parsed = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = good;
    for (uint32_t change = random() % 4 + 1; change > 0; --change) {
      const size_t at = random() % text.size();
      const char byte = kBytes[random() % (sizeof(kBytes) - 1)];
      if (random() % 3 == 0) {
        text.erase(at, random() % 8);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, byte);
      } else {
        text[at] = byte;
      }
    }
    absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
    if (!module.ok()) continue;
    ++parsed;
    const std::string printed = PrintModule(*module);
    ASSERT_EQ(Reprinted(printed), printed) << text;
  }
  EXPECT_GT(parsed, 50);
}

}  // namespace
}  // namespace partita
