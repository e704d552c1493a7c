// Values known at import stay bounded, however a model nests them.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

class KnownValuesTest : public ::testing::Test {
 protected:
  ValueId Number(int64_t number) {
    TensorType type;
    type.dtype = DType::kI64;
    HostTensor scalar(type);
    scalar.data<int64_t>()[0] = number;
    return graph_.AddConstant(literals_.Add(std::move(scalar)));
  }
  ValueId Neg(ValueId x) {
    return *graph_.AddValue({.op = &kNeg, .operands = {x}});
  }

  LiteralPool literals_;
  Graph graph_{"f", &literals_};
  KnownValues known_{graph_};
};

TEST_F(KnownValuesTest, DeepChainsAreKnownFromAnyPoint) {
  std::vector<ValueId> chain = {Number(7)};
  for (int i = 0; i < 20000; ++i) chain.push_back(Neg(chain.back()));
  ASSERT_NE(known_.Find(chain.back()), nullptr);
  EXPECT_EQ(ToInt64s(*known_.Find(chain.back())), std::vector<int64_t>{7});
  EXPECT_EQ(ToInt64s(*known_.Find(chain[999])), std::vector<int64_t>{-7});
  EXPECT_EQ(known_.bytes(), 20000 * 8);  // each once
}

TEST_F(KnownValuesTest, WhatDependsOnAnInputIsUnknown) {
  ValueId value = graph_.AddInput("x", {DType::kI64, {2}, {}});
  const ValueId x = value;
  for (int i = 0; i < 1000; ++i) value = Neg(value);
  EXPECT_EQ(known_.Find(value), nullptr);
  const ValueId shape = *graph_.AddValue({.op = &kShape, .operands = {value}});
  ASSERT_NE(known_.Find(shape), nullptr);  // the type suffices
  EXPECT_EQ(ToInt64s(*known_.Find(shape)), std::vector<int64_t>{2});
  EXPECT_EQ(known_.Find(x), nullptr);
}

TEST_F(KnownValuesTest, AllTogetherStayWithinTheBound) {
  const ValueId number = Number(1);
  for (int i = 0; i < 40; ++i) {
    const ValueId large = *graph_.AddValue(
        {.op = &kExpand,
         .operands = {number},
         .attributes = {{"shape", std::vector<int64_t>{1 << 20}}}});
    EXPECT_EQ(known_.Find(large) != nullptr, i < 8) << i;
  }
  EXPECT_EQ(known_.bytes(), KnownValues::kMaxBytes);
}

}  // namespace
}  // namespace partita
