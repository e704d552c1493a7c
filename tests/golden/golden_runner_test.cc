// The runner on small golden files and passes of its own.
// SPDX-License-Identifier: Apache-2.0

#include "tests/golden/golden_runner.h"

#include <gtest/gtest.h>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// neg(neg(x)) is x.
absl::Status CancelNeg(Graph& graph) {
  for (const OpView& outer : graph.ops(kNeg)) {
    const std::optional<OpView> inner = outer.operand(0).defining_op();
    if (!inner.has_value() || !inner->is(kNeg)) continue;
    graph.ReplaceAllUses(outer.result(0).id(), inner->operand(0).id());
  }
  return absl::OkStatus();
}

absl::Status RefuseRelu(Graph& graph) {
  for (const OpView& op : graph.ops(kRelu)) {
    return BadOp(op, "a relu", "none", "remove it");
  }
  return absl::OkStatus();
}

constexpr Pass kTable[] = {{"cancel_neg", CancelNeg},
                           {"refuse_relu", RefuseRelu}};

constexpr char kGolden[] = R"(// run: cancel_neg, refuse_relu

=== two signs cancel
graph @f(%x: f32[2]) -> f32[2] {
  %a = neg %x : f32[2]
  %b = neg %a : f32[2]
  return %b
}
--- becomes
graph @f(%x: f32[2]) -> f32[2] {
  %a = neg %x : f32[2]
  %b = neg %a : f32[2]
  return %x as b
}

=== one does not
graph @f(%x: f32[2]) -> f32[2] {
  %a = neg %x : f32[2]
  return %a
}
--- unchanged

=== relu is refused
graph @f(%x: f32[2]) -> f32[2] {
  %a = relu %x : f32[2]
  return %a
}
--- fails
relu %a: found a relu; expected none; remove it

=== names do not matter
graph @f(%y: f32[2]) -> f32[2] {
  %c = neg %y : f32[2]
  %d = neg %c : f32[2]
  return %d
}
--- same as two signs cancel
)";

GoldenFile Parsed(absl::string_view text) {
  absl::StatusOr<GoldenFile> file = ParseGolden(text);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST(Golden, EveryEndingIsChecked) {
  const GoldenFile file = Parsed(kGolden);
  ASSERT_EQ(file.examples.size(), 4u);
  for (const GoldenExample& example : file.examples) {
    const absl::Status status = CheckExample(file, example, kTable);
    EXPECT_TRUE(status.ok()) << example.title << "\n" << status.message();
  }
}

TEST(Golden, AFileThatIsRightIsUpdatedToItself) {
  EXPECT_EQ(PrintGolden(Updated(Parsed(kGolden), kTable)), kGolden);
}

TEST(Golden, EveryEndingCanFail) {
  const GoldenFile file = Parsed(kGolden);
  for (size_t i = 0; i < file.examples.size(); ++i) {
    for (size_t j = 0; j < 3; ++j) {
      if (i % 3 == j) continue;
      GoldenExample wrong = file.examples[i];
      wrong.ending = file.examples[j].ending;
      wrong.expected = file.examples[j].expected;
      EXPECT_FALSE(CheckExample(file, wrong, kTable).ok())
          << wrong.title << " ends as " << file.examples[j].title;
    }
  }
  GoldenExample same = file.examples[1];
  same.ending = GoldenExample::Ending::kSameAs;
  same.expected = "two signs cancel";
  EXPECT_FALSE(CheckExample(file, same, kTable).ok());
  same.expected = "no such title";
  EXPECT_FALSE(CheckExample(file, same, kTable).ok());
}

TEST(Golden, WrongEndingsAreUpdated) {
  GoldenFile file = Parsed(kGolden);
  for (size_t i = 0; i < 3; ++i) {
    file.examples[i].ending = file.examples[(i + 1) % 3].ending;
    file.examples[i].expected = "wrong\n";
  }
  EXPECT_EQ(PrintGolden(Updated(file, kTable)), kGolden);
}

TEST(Golden, AnUnknownPassIsNamed) {
  GoldenFile file = Parsed(kGolden);
  file.passes = {"no_such_pass"};
  const absl::Status status = CheckExample(file, file.examples[1], kTable);
  EXPECT_NE(status.message().find("found no pass no_such_pass"),
            absl::string_view::npos);
}

TEST(Golden, FilesWithoutEndingsAreRefused) {
  EXPECT_FALSE(ParseGolden("").ok());
  EXPECT_FALSE(ParseGolden("=== a\n=== b\n--- unchanged\n").ok());
  EXPECT_FALSE(ParseGolden("=== a\n--- unchanged\n--- unchanged\n").ok());
  EXPECT_FALSE(ParseGolden("=== a\n--- changed\n").ok());
}

}  // namespace
}  // namespace partita
