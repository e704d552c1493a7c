// Matmuls and convolutions with elementwise ops after them, as one kernel.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/any_sample.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"
#include "kernels/gpu/ptx_catalog.h"
#include "kernels/op_programs/read_any_program.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "tests/kernels/emulated_launch.h"

namespace partita {
namespace {

using Bytes = std::vector<std::byte>;

OneNode MatmulBiasRelu() {
  Body body({F32({6, 8}), F32({8, 16}), F32({16})});
  const ValueId product = body.Add(kMatmul, {body.input(0), body.input(1)});
  const ValueId sum = body.Add(kAdd, {product, body.input(2)});
  return body.Fuse({body.Add(kRelu, {sum})});
}

// What a gradient reads later is a result too.
OneNode MatmulGeluOfTwoResults() {
  Body body({F32({2, 3, 8}), F32({8, 5}), F32({3, 1})});
  const ValueId product = body.Add(kMatmul, {body.input(0), body.input(1)});
  const ValueId sum = body.Add(kMul, {body.input(2), product});
  return body.Fuse({sum, body.Add(kGelu, {sum})});
}

OneNode ConvResidualGate() {
  Body body({F32({2, 4, 5, 10}), F32({6, 4, 3, 3}), F32({6}), F32({2, 6, 3, 8}),
             F32({6, 1, 1})});
  const ValueId conv =
      body.Add(kConv, {body.input(0), body.input(1), body.input(2)});
  const ValueId sum = body.Add(kAdd, {conv, body.input(3)});
  const ValueId scaled = body.Add(kMul, {sum, body.input(4)});
  return body.Fuse({body.Add(kMul, {body.Add(kSigmoid, {scaled}), sum})});
}

OneNode HalfMatmul() {
  const auto half = [](Shape dims) -> TensorType {
    return {DType::kBF16, std::move(dims), {}};
  };
  Body body({half({4, 8}), half({8, 16}), half({4, 1})});
  const ValueId product = body.Add(kMatmul, {body.input(0), body.input(1)});
  return body.Fuse(
      {body.Add(kTanh, {body.Add(kAdd, {product, body.input(2)})})});
}

OneNode VectorTimesMatrix() {
  Body body({F32({8}), F32({8, 16}), F32({})});
  const ValueId product = body.Add(kMatmul, {body.input(0), body.input(1)});
  return body.Fuse({body.Add(kSub, {product, body.input(2)})});
}

// An operand of the head is read again by the epilogue.
OneNode ProductPlusOperand() {
  Body body({F32({8, 8}), F32({8, 8})});
  const ValueId product = body.Add(kMatmul, {body.input(0), body.input(1)});
  return body.Fuse({body.Add(kAdd, {product, body.input(0)})});
}

std::vector<OneNode> Nodes() {
  std::vector<OneNode> nodes;
  nodes.push_back(MatmulBiasRelu());
  nodes.push_back(MatmulGeluOfTwoResults());
  nodes.push_back(ConvResidualGate());
  nodes.push_back(HalfMatmul());
  nodes.push_back(VectorTimesMatrix());
  nodes.push_back(ProductPlusOperand());
  return nodes;
}

std::vector<HostTensor> OperandsOf(const OpView& node) {
  std::vector<HostTensor> operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& type = node.operand_type(i);
    operands.push_back(
        RandomTensor({type.dtype, type.dims}, static_cast<uint32_t>(i + 1)));
  }
  return operands;
}

AnySample SampleOf(const OpView& node, AnyProgram program,
                   const std::vector<HostTensor>& operands) {
  AnySample sample{.what = node.ToString(), .program = std::move(program)};
  for (const HostTensor& operand : operands) {
    const auto bytes = operand.byte_span();
    sample.operands.emplace_back(bytes.begin(), bytes.end());
  }
  return sample;
}

void ExpectClose(const HostTensor& expected, const Bytes& bytes) {
  HostTensor found(expected.type());
  ASSERT_EQ(bytes.size(), found.byte_span().size());
  std::memcpy(found.bytes(), bytes.data(), bytes.size());
  const double unit = expected.type().dtype == DType::kBF16 ? 1e-2 : 1e-5;
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    const double want = GetAsDouble(expected, i);
    EXPECT_NEAR(GetAsDouble(found, i), want, unit * (1 + std::fabs(want)));
  }
}

TEST(FusedEpilogues, AreOneKernelWithTheInterpretersBitsAndEvalsResults) {
  for (const OneNode& one : Nodes()) {
    const OpView& node = one.node();
    SCOPED_TRACE(node.region(0).ops().front().ToString());
    const auto program = ReadAnyProgram(node, "sm_80");
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_TRUE(std::holds_alternative<IndexProgram>(*program));
    const std::vector<HostTensor> operands = OperandsOf(node);
    const AnySample sample = SampleOf(node, *program, operands);
    const auto text = BuildPtx({*program}, "sm_80");
    ASSERT_TRUE(text.ok()) << text.status();
    const auto module = ptx::ParseModule(*text, "sm_80");
    ASSERT_TRUE(module.ok()) << module.status();
    const auto found = LaunchEmulated(*module, sample, {});
    ASSERT_TRUE(found.ok()) << found.status();
    const std::vector<Bytes> expected = InterpretedResults(sample);
    const absl::Status status = CheckResults(sample, expected, *found);
    EXPECT_TRUE(status.ok()) << status;
    const auto values = EvaluateNode(node, operands);
    ASSERT_TRUE(values.ok()) << values.status();
    for (size_t i = 0; i < values->size(); ++i) {
      ExpectClose((*values)[i], expected[i]);
    }
  }
}

TEST(FusedEpilogues, AreOffered) {
  DeviceTraits gpu;
  gpu.kind = DeviceKind::kCuda;
  gpu.isa = "sm_90";
  for (const OneNode& one : Nodes()) {
    const auto choices = PtxCatalog().Choices(one.node(), gpu);
    ASSERT_EQ(choices.size(), 1u);
    EXPECT_EQ(choices[0].kernel, "ptx.indices");
    EXPECT_TRUE(choices[0].in_place.empty());
  }
}

TEST(FusedEpilogues, TwoHeadsAreNot) {
  Body body({F32({8, 8}), F32({8, 8})});
  const ValueId product = body.Add(kMatmul, {body.input(0), body.input(1)});
  const OneNode twice =
      body.Fuse({body.Add(kMatmul, {product, body.input(1)})});
  EXPECT_TRUE(absl::IsUnimplemented(WhyHostFallback(twice.node())));
  Body pool({F32({1, 1, 4, 4})});
  const OneNode pooled = pool.Fuse(
      {pool.Add(kRelu, {pool.Add(kMaxPool, {pool.input(0)},
                                 {{"kernel", std::vector<int64_t>{2, 2}}})})});
  EXPECT_TRUE(absl::IsUnimplemented(WhyHostFallback(pooled.node())));
}

}  // namespace
}  // namespace partita
