// Texts of random graphs, mutated at random: the parser, with the type
// inference of every op, must refuse or accept them, and an accepted graph must
// be sound and print to text that parses to the same.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "graph/fingerprint.h"
#include "graph/op_def.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr uint64_t kGraphs = 60;
constexpr uint64_t kChangesOfEach = 60;

class Mutation {
 public:
  explicit Mutation(uint64_t seed) : seed_(seed) {}

  void Apply(std::string& text) {
    switch (Below(5)) {
      case 0:
        return ReplaceByte(text);
      case 1:
        return SwapLines(text);
      case 2:
        text.erase(Below(text.size()), Below(12));
        return;
      default:
        return ReplaceNumber(text);
    }
  }

 private:
  size_t Below(size_t limit) {
    return RandomWord(seed_, counter_++) % std::max<size_t>(limit, 1);
  }

  void ReplaceByte(std::string& text) {
    constexpr char kBytes[] = "{}()[]%@#\",:=-> \n0123456789abfinx.";
    text[Below(text.size())] = kBytes[Below(sizeof(kBytes) - 1)];
  }

  void SwapLines(std::string& text) {
    const size_t first = text.find('\n', Below(text.size()));
    if (first == std::string::npos) return;
    const size_t second = text.find('\n', first + 1);
    if (second == std::string::npos) return;
    const std::string line = text.substr(first, second - first);
    text.erase(first, line.size());
    text.insert(std::min(text.find('\n', Below(text.size())), text.size()),
                line);
  }

  // Extents, axes, pads, strides and groups that nobody would write.
  void ReplaceNumber(std::string& text) {
    constexpr const char* kNumbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "-3",
                                        "7",
                                        "64",
                                        "4294967296",
                                        "2147483647",
                                        "-2147483648",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1000000007",
                                        "35184372088832"};
    size_t at = Below(text.size());
    while (at < text.size() && !absl::ascii_isdigit(text[at])) ++at;
    size_t end = at;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    if (at == end) return;
    text.replace(at, end - at, kNumbers[Below(std::size(kNumbers))]);
  }

  const uint64_t seed_;
  uint64_t counter_ = 0;
};

// Makes every query of a planner for every op.
void AskEverything(const Graph& graph) {
  for (const OpView& op : graph.ops()) {
    if (op.op().cost != nullptr) op.op().cost(op);
    if (op.op().dimension_rule != nullptr) op.op().dimension_rule(op);
    if (op.op().moves != nullptr) op.op().moves(op);
  }
}

TEST(TextFuzz, ChangedTextsAreRefusedOrSound) {
  int accepted = 0;
  for (uint64_t graph = 0; graph < kGraphs; ++graph) {
    const std::string good = PrintModule(
        RandomGraph(graph, {.steps = 12, .discrete = graph % 2 == 1}));
    for (uint64_t change = 0; change < kChangesOfEach; ++change) {
      std::string text = good;
      Mutation mutation(graph * kChangesOfEach + change);
      for (uint64_t i = 0; i <= change % 3; ++i) mutation.Apply(text);
      SCOPED_TRACE(text);
      absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
      if (!module.ok()) continue;
      ++accepted;
      ASSERT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module);
      for (const auto& function : module->functions()) {
        AskEverything(*function);
      }
      const std::string printed = PrintModule(*module);
      absl::StatusOr<Module> again =
          ParseModule(printed, "t", OpSet::BuiltIn());
      ASSERT_TRUE(again.ok()) << again.status();
      ASSERT_EQ(PrintModule(*again), printed);
      ASSERT_EQ(FingerprintOf(*again), FingerprintOf(*module));
    }
  }
  EXPECT_GT(accepted, 100);
}

// One attribute or extent at a time, over every op of the table: no value of an
// attribute may end the program.
TEST(TextFuzz, AnyAttributeOfAnyOpIsRefusedOrSound) {
  constexpr const char* kLists[] = {
      "[]",
      "[0]",
      "[0, 0]",
      "[1, 1]",
      "[-1]",
      "[2, 2]",
      "[1, 0, 2, 3]",
      "[3, 2, 1, 0]",
      "[1, 1, 1, 1]",
      "[0, 0, 0, 0]",
      "[-1, -1]",
      "[-2, -2]",
      "[9223372036854775807, 9223372036854775807]",
      "[-9223372036854775808, -9223372036854775808]",
      "[9223372036854775807, 9223372036854775807, 9223372036854775807, "
      "9223372036854775807]",
      "[-9223372036854775808, 1, 1, 1]"};
  constexpr const char* kNumbers[] = {
      "nan", "-0", "0.5", "18446744073709551615", "-9223372036854775808"};
  constexpr const char* kInts[] = {"0",
                                   "1",
                                   "-1",
                                   "2",
                                   "3",
                                   "4",
                                   "-4",
                                   "100",
                                   "9223372036854775807",
                                   "-9223372036854775808"};
  constexpr const char* kOperandLists[] = {"",
                                           " %a",
                                           " %m",
                                           " %a, %b",
                                           " %m, %m",
                                           " %a, %i",
                                           " %a, %b, %c",
                                           " %m, %i, %m",
                                           " %a, %c, %c, %c, %c",
                                           " %e",
                                           " %e, %e",
                                           " %s, %s",
                                           " %i, %v",
                                           " %z, %z, %z"};
  int accepted = 0;
  uint64_t counter = 0;
  const auto pick = [&](const auto& list) {
    return list[RandomWord(9, counter++) % std::size(list)];
  };
  for (const OpDef* op : OpSet::BuiltIn().ops()) {
    if (op->num_regions > 0) continue;
    for (int trial = 0; trial < 150; ++trial) {
      std::vector<std::string> attributes;
      for (const AttrDef& attr : op->attrs) {
        if (attr.name == nullptr) break;
        if (!attr.required && RandomWord(8, counter++) % 2 == 0) continue;
        std::string value = "1";
        if (attr.kind == AttributeKind::kInts) value = pick(kLists);
        if (attr.kind == AttributeKind::kFloats) value = pick(kLists);
        if (attr.kind == AttributeKind::kInt) value = pick(kInts);
        if (attr.kind == AttributeKind::kFloat) value = "nan";
        if (attr.kind == AttributeKind::kNumber) value = pick(kNumbers);
        if (attr.kind == AttributeKind::kBool) value = "true";
        if (attr.kind == AttributeKind::kString) value = "\"linear\"";
        if (attr.kind == AttributeKind::kDType) value = "i8";
        if (attr.kind == AttributeKind::kLiteral) value = "f32[] 1";
        attributes.push_back(absl::StrCat(attr.name, " = ", value));
      }
      std::string list;
      for (const std::string& attribute : attributes) {
        absl::StrAppend(&list, list.empty() ? "" : ", ", attribute);
      }
      const std::string text = absl::StrCat(
          "graph @f(%a: f32[1, 2, 4, 4], %b: f32[2, 2, 3, 3], %c: f32[2], ",
          "%m: f32[3, 3], %i: i64[2], %e: f32[0, 2], %s: f32[], ",
          "%v: f32[2], %z: i32[1099511627776, 0]) -> () {\n",
          op->num_results == 2 ? "  %r, %q = " : "  %r = ", op->name,
          pick(kOperandLists), list.empty() ? "" : " {", list,
          list.empty() ? "" : "}", "\n  return\n}\n");
      SCOPED_TRACE(text);
      absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
      if (!module.ok()) continue;
      ++accepted;
      AskEverything(module->main());
      const std::string printed = PrintModule(*module);
      absl::StatusOr<Module> again =
          ParseModule(printed, "t", OpSet::BuiltIn());
      ASSERT_TRUE(again.ok()) << again.status();
      ASSERT_EQ(PrintModule(*again), printed);
    }
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace partita
