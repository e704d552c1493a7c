// Which nodes cost no bytes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/views.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/graph.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// "0+64 of 0" for each result, or "none".
std::string ViewsOfNode(const OpDef& op, const std::vector<Shape>& operands,
                        Attributes attributes) {
  LiteralPool pool;
  Graph graph("g", &pool);
  NodeSpec spec{.op = &op, .operands = {}, .attributes = std::move(attributes)};
  for (const Shape& dims : operands) {
    spec.operands.push_back(graph.AddInput("", {DType::kF32, dims, {}}));
  }
  const OpView node = graph.view(*graph.AddNode(std::move(spec)));
  const auto views = ViewsOf(node);
  if (!views.has_value()) return "none";
  return absl::StrJoin(*views, ", ", [](std::string* out, const ViewOf& view) {
    absl::StrAppend(out, "operand ", view.operand, " from ", view.offset,
                    view.is_whole ? ", whole" : "");
  });
}

TEST(Views, AReshapeHasAllBytesOfItsOperand) {
  EXPECT_EQ(ViewsOfNode(kReshape, {{4, 6}}, {{"shape", Ints{24}}}),
            "operand 0 from 0, whole");
}

// As of a cache without past positions and what is added to it.
TEST(Views, AConcatWithNothingIsAViewOfTheOtherOperand) {
  EXPECT_EQ(ViewsOfNode(kConcat, {{0, 4}, {3, 4}}, {{"axis", int64_t{0}}}),
            "operand 1 from 0, whole");
}

TEST(Views, ATransposeIsAViewWhereNothingMoves) {
  EXPECT_EQ(ViewsOfNode(kTranspose, {{1, 6}}, {{"perm", Ints{1, 0}}}),
            "operand 0 from 0, whole");
  EXPECT_EQ(ViewsOfNode(kTranspose, {{2, 6}}, {{"perm", Ints{1, 0}}}), "none");
}

TEST(Views, ASliceBeginsWhereABufferMay) {
  const auto rows = [](int64_t first, int64_t count) {
    return ViewsOfNode(kSlice, {{64}},
                       {{"starts", Ints{first}}, {"sizes", Ints{count}}});
  };
  EXPECT_EQ(rows(0, 3), "operand 0 from 0");
  EXPECT_EQ(rows(16, 3), "operand 0 from 64");
  // Three floats at byte 4 are copied, so they are no view.
  EXPECT_EQ(rows(1, 3), "none");
}

TEST(Views, ASliceOfColumnsIsNoInterval) {
  const auto columns = [](int64_t rows) {
    return ViewsOfNode(kSlice, {{rows, 32}},
                       {{"starts", Ints{0, 16}}, {"sizes", Ints{rows, 16}}});
  };
  EXPECT_EQ(columns(1), "operand 0 from 64");
  EXPECT_EQ(columns(2), "none");
}

TEST(Views, ASplitIsAViewIfEachOfItsResultsIs) {
  const auto parts = [](Ints sizes) {
    return ViewsOfNode(kSplit, {{48}}, {{"axis", 0}, {"sizes", sizes}});
  };
  EXPECT_EQ(parts({16, 32}), "operand 0 from 0, operand 0 from 64");
  EXPECT_EQ(parts({12, 36}), "none");
}

TEST(Views, WhatJoinsOrComputesIsNone) {
  EXPECT_EQ(ViewsOfNode(kConcat, {{16}, {16}}, {{"axis", 0}}), "none");
  EXPECT_EQ(ViewsOfNode(kRelu, {{16}}, {}), "none");
}

}  // namespace
}  // namespace partita
