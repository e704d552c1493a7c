// Tests which changes of a graph change its fingerprint.
// SPDX-License-Identifier: Apache-2.0

#include "graph/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"

namespace partita {
namespace {

Fingerprint OfText(absl::string_view text) {
  absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  return FingerprintOf(*module);
}

// A graph over %x and %y with this line before its return.
std::string WithLine(absl::string_view line) {
  return absl::StrCat("graph @f(%x: f32[2, 2], %y: f32[2, 2]) -> f32[2, 2] {\n",
                      line, "\n  return %r\n}\n");
}

TEST(Fingerprint, IgnoresNamesScopesAndLocations) {
  EXPECT_EQ(OfText(WithLine("%r = add %x, %y")),
            OfText("graph @f(%a: f32[2, 2], %b: f32[2, 2]) -> f32[2, 2] {\n"
                   "%0 = add %a, %b scope \"s\" at \"here\"\n"
                   "return %0 as sum\n}\n"));
}

TEST(Fingerprint, ExplicitDefaultsAreDefaults) {
  EXPECT_EQ(OfText(WithLine("%r = matmul %x, %y")),
            OfText(WithLine("%r = matmul %x, %y {transpose_a = false}")));
}

TEST(Fingerprint, EverythingElseCounts) {
  const std::vector<std::string> lines = {
      "%r = add %x, %y",
      "%r = add %y, %x",
      "%r = add %x, %x",
      "%r = sub %x, %y",
      "%r = matmul %x, %y",
      "%r = matmul %x, %y {transpose_a = true}",
      "%r = matmul %x, %y {transpose_b = true}",
      "%r = add %x, %y on gpu:0",
      "%r = add %x, %y on gpu:1",
      "%r = add %x, %y on {gpu:0, gpu:1}",
      "%r = add %x, %y on {gpu:0, gpu:1} -> (split 0)",
      "%r = add %x, %y on {gpu:0, gpu:1} -> (split 0 by 2)",
      "%r = add %x, %y on {gpu:0, gpu:1} (split 0, split 0) -> (split 0)",
      "%r = add %x, %y by eval",
      "%r = add %x, %y by eval {workspace = 1}",
      "%r = add %x, %y by eval {in_place = [0 -> 0]}",
      "%r = constant f32[2, 2] [1, 2, 3, 4]",
      "%r = constant f32[2, 2] [1, 2, 3, 5]",
      "%n = add %x, %y\n%r = add %x, %y",
      "%r = fused %x (%p: f32[2, 2]) {\n%q = neg %p\nreturn %q\n}",
      "%r = fused %x (%p: f32[2, 2]) {\n%q = abs %p\nreturn %q\n}",
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(OfText(WithLine(lines[i])), OfText(WithLine(lines[j])))
          << lines[i] << "\n"
          << lines[j];
    }
  }
}

TEST(Fingerprint, LayoutsCount) {
  EXPECT_NE(OfText("graph @f(%x: f32[2, 2]{ba}) -> () {\nreturn\n}\n"),
            OfText("graph @f(%x: f32[2, 2]) -> () {\nreturn\n}\n"));
}

TEST(Fingerprint, VariablesAndUpdatesCount) {
  const std::string variable = "variable @w: f32[2]\n";
  const std::string graph = "graph @f(%x: f32[2]) -> () {\n";
  EXPECT_NE(OfText(variable + graph + "return\n}\n"),
            OfText(variable + graph + "update @w = %x\nreturn\n}\n"));
  EXPECT_NE(OfText(variable), OfText("variable @w: f32[2] trainable\n"));
  EXPECT_NE(OfText(variable), OfText("variable @w: f32[2] = f32[2] [0, 0]\n"));
}

}  // namespace
}  // namespace partita
