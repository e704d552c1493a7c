// Kernels that emulate another device's: plain layouts outside, oneDNN's own
// inside.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

std::vector<HostTensor> RandomOperands(const OpView& node) {
  std::vector<HostTensor> tensors;
  uint32_t state = 1;
  for (int i = 0; i < node.num_operands(); ++i) {
    tensors.emplace_back(node.operand_type(i));
    float* values = reinterpret_cast<float*>(tensors.back().bytes());
    for (int64_t e = 0; e < node.operand_type(i).num_elements(); ++e) {
      state = state * 1664525u + 1013904223u;
      values[e] = static_cast<float>(state >> 8) / (1 << 23) - 1;
    }
  }
  return tensors;
}

class Emulated {
 public:
  explicit Emulated(const OpView& node)
      : node_(node), operands_(RandomOperands(node)) {}

  absl::Status Bind(int64_t workspace) {
    const KernelBinding binding = {.kernel = "onednn", .workspace = workspace};
    const DeviceTraits device = TestCpu(1);
    BindRequest request = {
        .node = node_, .binding = &binding, .device = &device};
    request.emulates = true;
    auto kernel = library_.Bind(request);
    if (!kernel.ok()) return kernel.status();
    kernel_ = std::move(kernel->kernel);
    workspace_.assign(workspace, std::byte{0xab});
    return absl::OkStatus();
  }

  // The largest error over eval's largest value.
  double Error() {
    std::vector<void*> operands;
    std::vector<HostTensor> views;
    for (HostTensor& tensor : operands_) {
      operands.push_back(tensor.bytes());
      views.push_back(HostTensor::ConstView(tensor.type(), tensor.bytes()));
    }
    HostTensor found(node_.result_type(0));
    std::vector<HostTensor> expected;
    expected.emplace_back(node_.result_type(0));
    void* result = found.bytes();
    EXPECT_TRUE(kernel_
                    ->Launch({.operands = operands,
                              .results = {&result, 1},
                              .workspace = workspace_.data()})
                    .ok());
    EXPECT_TRUE(node_.op().eval(node_, views, absl::MakeSpan(expected)).ok());
    double error = 0, largest = 1e-30;
    for (int64_t i = 0; i < node_.result_type(0).num_elements(); ++i) {
      const double value = GetAsDouble(expected[0], i);
      error = std::max(error, std::abs(GetAsDouble(found, i) - value));
      largest = std::max(largest, std::abs(value));
    }
    return error / largest;
  }

  HostTensor& operand(int i) { return operands_[i]; }

 private:
  const OpView node_;
  std::vector<HostTensor> operands_;
  OnednnLibrary library_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<std::byte> workspace_;
};

OneNode LargeConv() {
  return OneNode(kConv, {F32({1, 64, 28, 28}), F32({64, 64, 3, 3}), F32({64})},
                 {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}});
}

TEST(EmulatedBinding, AConvolutionOfPlainLayoutsIsReorderedInItsWorkspace) {
  const OneNode one = LargeConv();
  Emulated emulated(one.node());
  EXPECT_EQ(emulated.Bind(4096).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(emulated.Bind(16 << 20).ok());
  EXPECT_LT(emulated.Error(), 2e-5);
}

TEST(EmulatedBinding, ChannelsThatFillNoBlockArePadded) {
  const OneNode one(kConv, {F32({2, 19, 9, 7}), F32({21, 19, 3, 3})});
  Emulated emulated(one.node());
  ASSERT_TRUE(emulated.Bind(16 << 20).ok());
  EXPECT_LT(emulated.Error(), 2e-5);
}

TEST(EmulatedBinding, AProductAndAPoolBindByTheLibrarysNameAlone) {
  const OneNode product(kMatmul, {F32({64, 96}), F32({96, 80})});
  Emulated matmul(product.node());
  ASSERT_TRUE(matmul.Bind(16 << 20).ok());
  EXPECT_LT(matmul.Error(), 2e-5);
  const OneNode window(kAvgPool, {F32({1, 32, 14, 14})},
                       {{"kernel", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  Emulated pool(window.node());
  ASSERT_TRUE(pool.Bind(16 << 20).ok());
  EXPECT_LT(pool.Error(), 2e-5);
}

TEST(EmulatedBinding, ConstantWeightsArePackedWhenTheKernelIsBound) {
  LiteralPool pool;
  Graph graph("g", &pool);
  HostTensor weights(F32({32, 32, 3, 3}));
  float* values = reinterpret_cast<float*>(weights.bytes());
  for (int i = 0; i < 32 * 32 * 9; ++i) values[i] = float(i % 13) - 6;
  const ValueId x = graph.AddInput("x", F32({1, 32, 12, 12}));
  const ValueId w = graph.AddConstant(pool.Add(weights.Clone()), "w");
  const NodeId node = *graph.AddNode({.op = &kConv, .operands = {x, w}});
  Emulated emulated(graph.view(node));
  std::memcpy(emulated.operand(1).bytes(), weights.bytes(),
              weights.byte_span().size());
  ASSERT_TRUE(emulated.Bind(16 << 20).ok());
  EXPECT_LT(emulated.Error(), 2e-5);
}

}  // namespace
}  // namespace partita
