// Tests the table of ops: every row is complete, named like its constant, and
// has a sample.
// SPDX-License-Identifier: Apache-2.0

#include <cctype>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(OpTableTest, EveryOpIsComplete) {
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    ASSERT_NE(op.name, nullptr) << "row " << i;
    SCOPED_TRACE(op.name);
    ASSERT_NE(op.doc, nullptr);
    EXPECT_EQ(std::string(op.doc).back(), '.');
    EXPECT_NE(op.infer, nullptr);
    EXPECT_NE(op.eval, nullptr);
    EXPECT_NE(op.cost, nullptr);
    EXPECT_NE(op.dimension_rule, nullptr);
    EXPECT_EQ(op.traits.elementwise, op.scalar != nullptr);
  }
}

TEST(OpTableTest, NamesAreUnique) {
  std::set<std::string> names;
  for (int i = 0; i < kOpTableSize; ++i) {
    EXPECT_TRUE(names.insert(kOpTable[i]->name).second) << kOpTable[i]->name;
  }
}

// The names of the constants are in a generated list.
TEST(OpTableTest, NamesAreTheirConstantsInSnakeCase) {
  const auto snake_case = [](const std::string& constant) {
    std::string name;
    for (char c : constant.substr(1)) {
      if (std::isupper(c) && !name.empty()) name += '_';
      name += static_cast<char>(std::tolower(c));
    }
    return name;
  };
#define EXPECT_NAMED(constant) \
  EXPECT_EQ(std::string(constant.name), snake_case(#constant))
#include "graph/ops/op_names.inc"
#undef EXPECT_NAMED
}

TEST(OpTableTest, EveryOpHasASample) {
  std::set<const OpDef*> sampled = {&kConstant, &kVariable, &kFused};
  for (const OpSample& sample : OpSamples()) sampled.insert(sample.op);
  for (int i = 0; i < kOpTableSize; ++i) {
    if (kOpTable[i]->traits.placed_only) continue;
    EXPECT_TRUE(sampled.count(kOpTable[i]))
        << kOpTable[i]->name
        << ": found no sample that it accepts; expected some in .samples";
  }
}

TEST(OpTableTest, CostsAreFiniteAndNotNegative) {
  for (const OpSample& sample : OpSamples()) {
    LiteralPool literals;
    Graph graph("g", &literals);
    const auto node = AddSample(sample, graph);
    ASSERT_TRUE(node.ok()) << ToString(sample) << node.status();
    const Cost cost = sample.op->cost(graph.view(*node));
    EXPECT_GE(cost.flops, 0) << ToString(sample);
    EXPECT_GE(cost.bytes, 0) << ToString(sample);
    EXPECT_LT(cost.flops + cost.bytes, 1e9) << ToString(sample);
  }
}

// Running the moves byte by byte gives the result of eval.
TEST(OpTableTest, MovesAgreeWithEval) {
  int moved = 0;
  for (const OpSample& sample : OpSamples()) {
    if (sample.op->moves == nullptr) continue;
    SCOPED_TRACE(ToString(sample));
    LiteralPool literals;
    Graph graph("g", &literals);
    const auto node = AddSample(sample, graph);
    ASSERT_TRUE(node.ok()) << node.status();
    const auto moves = sample.op->moves(graph.view(*node));
    if (!moves.has_value()) continue;
    ++moved;
    std::vector<HostTensor> operands;
    for (const SampleOperand& operand : sample.operands) {
      operands.push_back(RandomTensor(operand, 3));
    }
    const auto results = EvaluateNode(graph.view(*node), operands);
    ASSERT_TRUE(results.ok()) << results.status();
    std::vector<HostTensor> copies;
    for (const HostTensor& r : *results) copies.emplace_back(r.type());
    for (const ByteMove& m : *moves) {
      for (int64_t i = 0; i < m.count; ++i) {
        std::copy_n(
            operands[m.operand].bytes() + m.operand_offset +
                i * m.operand_stride,
            m.block,
            copies[m.result].bytes() + m.result_offset + i * m.result_stride);
      }
    }
    for (size_t r = 0; r < copies.size(); ++r) {
      EXPECT_EQ(copies[r].byte_span(), (*results)[r].byte_span());
    }
  }
  EXPECT_GE(moved, 8);
}

// Extents of 0 and 1 in every dimension of every operand: an error or a result,
// but no crash.
TEST(OpTableTest, EmptyAndSingleExtentsAreHarmless) {
  for (const OpSample& sample : OpSamples()) {
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      for (size_t d = 0; d < sample.operands[i].dims.size(); ++d) {
        for (int64_t extent : {0, 1}) {
          OpSample changed = sample;
          const int64_t old = changed.operands[i].dims[d];
          // Equal extents change together, so that operands still agree.
          for (SampleOperand& operand : changed.operands) {
            for (int64_t& dim : operand.dims) {
              if (dim == old) dim = extent;
            }
          }
          SCOPED_TRACE(ToString(changed));
          LiteralPool literals;
          Graph graph("g", &literals);
          const auto node = AddSample(changed, graph);
          if (!node.ok()) {
            EXPECT_NE(node.status().message().find("expected"),
                      absl::string_view::npos)
                << node.status();
            continue;
          }
          std::vector<HostTensor> operands;
          for (const SampleOperand& operand : changed.operands) {
            operands.push_back(RandomTensor(operand, 5));
          }
          sample.op->cost(graph.view(*node));
          sample.op->dimension_rule(graph.view(*node));
          const auto results = EvaluateNode(graph.view(*node), operands);
          if (results.ok()) continue;
          const absl::string_view message = results.status().message();
          EXPECT_TRUE(absl::StrContains(message, "found index") ||
                      absl::StrContains(message, "found length"))
              << results.status();
        }
      }
    }
  }
}

}  // namespace
}  // namespace partita
