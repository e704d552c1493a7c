// Compares every fast kernel of the host with eval for unusual values: NaN,
// infinities, zeros of both signs, denormals, the largest floats, and arguments
// far from 0. Names exactly the exceptions of docs/internals/numerics.md.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/catalog/ieee_catalog.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Limits {
  double largest, normal, denormal;
};
Limits LimitsOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return {std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074};
    case DType::kF32:
      return {std::numeric_limits<float>::max(), 0x1p-126, 0x1p-149};
    case DType::kBF16:
      return {0x1.fep127, 0x1p-126, 0x1p-133};
    default:
      return {65504, 0x1p-14, 0x1p-24};
  }
}

std::vector<double> SpecialValues(DType dtype) {
  const Limits limits = LimitsOf(dtype);
  std::vector<double> values = {kNan};
  for (double v : {0.0,
                   limits.denormal,
                   37 * limits.denormal,
                   limits.normal - limits.denormal,
                   limits.normal,
                   limits.largest,
                   limits.largest / 2,
                   kInfinity,
                   1e-6,
                   0.5,
                   1.0,
                   2.0,
                   6.0,
                   9.25,
                   20.0,
                   50.0,
                   87.0,
                   103.0,
                   150.0,
                   1e4,
                   3.0e38,
                   1e9}) {
    if (std::abs(v) > limits.largest && v != kInfinity) continue;
    values.push_back(v);
    values.push_back(-v);
  }
  return values;
}

HostTensor Tensor(DType dtype, const std::vector<double>& values) {
  HostTensor tensor(
      TensorType{dtype, {static_cast<int64_t>(values.size())}, {}});
  for (size_t i = 0; i < values.size(); ++i) {
    SetFromDouble(tensor, static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

const IeeeCatalog& Ieee() {
  static const IeeeCatalog& catalog = *new IeeeCatalog(HostCatalog());
  return catalog;
}

// Returns the number of fast kernels.
size_t ExpectRight(const OpView& node, const KernelCheckOptions& options,
                   absl::string_view what) {
  size_t kernels = 0;
  for (const KernelLibrary* library : HostLibraries()) {
    if (library->name() == "reference") continue;
    const CheckReport report = CheckKernels(node, Ieee(), *library, options);
    EXPECT_TRUE(report.status.ok()) << what << ": " << report.status;
    kernels += report.kernels.size();
  }
  return kernels;
}

// Elementwise: every special value, or every tuple of them.
size_t ExpectElementwise(const OpDef& op, DType dtype, int operands) {
  const std::vector<double> values = SpecialValues(dtype);
  std::vector<std::vector<double>> columns(operands);
  size_t tuples = 1;
  for (int i = 0; i < operands; ++i) tuples *= values.size();
  for (size_t t = 0; t < tuples; ++t) {
    size_t rest = t;
    for (std::vector<double>& column : columns) {
      column.push_back(values[rest % values.size()]);
      rest /= values.size();
    }
  }
  // An odd size, with NaN as the last element.
  if (tuples % 2 == 0) {
    for (std::vector<double>& column : columns) column.push_back(kNan);
  }
  std::vector<HostTensor> tensors;
  std::vector<TensorType> types;
  KernelCheckOptions options;
  options.units = 8;
  options.threads = {2};
  for (const std::vector<double>& column : columns) {
    tensors.push_back(Tensor(dtype, column));
    types.push_back(tensors.back().type());
  }
  for (const HostTensor& tensor : tensors) options.operands.push_back(&tensor);
  const Attributes attributes =
      &op == &kClip ? Attributes{{"min", -2.5}, {"max", 6.0}} : Attributes{};
  return ExpectRight(OneNode(op, types, attributes).node(), options,
                     absl::StrCat(op.name, " of ", DTypeName(dtype)));
}

TEST(SpecialValues, ElementwiseFunctionsAreTheirEval) {
  int checked = 0;
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    const int operands = MinOperands(op);
    if (!op.traits.elementwise || operands > 2) continue;
    for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      LiteralPool pool;
      Graph graph("try", &pool);
      NodeSpec spec{.op = &op, .operands = {}, .attributes = {}};
      for (int n = 0; n < operands; ++n) {
        spec.operands.push_back(graph.AddInput("", {dtype, {1}, {}}));
      }
      if (!graph.AddNode(std::move(spec)).ok()) continue;
      checked += ExpectElementwise(op, dtype, operands) > 0;
    }
  }
  EXPECT_GT(checked, 40);
}

TEST(SpecialValues, GeluByTanh) {
  const HostTensor x = Tensor(DType::kF32, SpecialValues(DType::kF32));
  KernelCheckOptions options;
  options.units = 128;  // as large as its exponent
  options.operands = {&x};
  OneNode one(kGelu, {x.type()}, {{"tanh", true}});
  EXPECT_GT(ExpectRight(one.node(), options, "gelu by tanh"), 0u);
}

// Ordinary values with one special value in the first vector and one at the
// end.
HostTensor Sprinkled(const Shape& dims, double special, uint32_t seed) {
  HostTensor tensor(F32(dims));
  const int64_t count = tensor.type().num_elements();
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    SetFromDouble(tensor, i, (state >> 8) * 0x1p-23 + 0x1p-24);
  }
  SetFromDouble(tensor, std::min<int64_t>(3, count - 1), special);
  SetFromDouble(tensor, count - 1, special);
  return tensor;
}

// Puts the special values into each operand in turn, except the one left out.
void ExpectSprinkled(const OpDef& op, const std::vector<Shape>& shapes,
                     const Attributes& attributes, int left_out = -1) {
  std::vector<TensorType> types;
  for (const Shape& dims : shapes) types.push_back(F32(dims));
  const OneNode one(op, types, attributes);
  for (double special : {kNan, kInfinity, -kInfinity, -0.0, 0x1p-149, 1e-40}) {
    for (size_t place = 0; place < shapes.size(); ++place) {
      if (static_cast<int>(place) == left_out) continue;
      std::vector<HostTensor> tensors;
      KernelCheckOptions options;
      options.tolerance = 1e-5;
      for (size_t i = 0; i < shapes.size(); ++i) {
        tensors.push_back(
            Sprinkled(shapes[i], i == place ? special : 0.25, i + 1));
      }
      for (const HostTensor& t : tensors) options.operands.push_back(&t);
      EXPECT_GT(ExpectRight(one.node(), options,
                            absl::StrCat(op.name, " with ", special,
                                         " in operand ", place)),
                0u)
          << op.name;
    }
  }
}

TEST(SpecialValues, PoolsAndReductions) {
  const Attributes window = {{"kernel", Ints{3, 2}},
                             {"strides", Ints{2, 1}},
                             {"pads_before", Ints{1, 0}},
                             {"pads_after", Ints{1, 1}}};
  for (int64_t channels : {3, 16, 19}) {
    ExpectSprinkled(kMaxPool, {{2, channels, 9, 7}}, window);
    ExpectSprinkled(kAvgPool, {{2, channels, 9, 7}}, window);
    Attributes gradient = window;
    gradient.Set("sizes", Ints{9, 7});
    ExpectSprinkled(kAvgPoolGradient, {{2, channels, 5, 7}}, gradient);
    for (const OpDef* op : {&kReduceMean, &kReduceMax, &kReduceMin, &kReduceSum,
                            &kReduceSumSquare}) {
      ExpectSprinkled(*op, {{2, channels, 7, 5}}, {{"axes", Ints{2, 3}}});
      ExpectSprinkled(*op, {{2, channels, 7, 5}}, {{"axes", Ints{1}}});
    }
  }
}

TEST(SpecialValues, AMaxPoolOfMinusInfinityIsMinusInfinity) {
  HostTensor x(F32({1, 19, 4, 4}));
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    SetFromDouble(x, i, -kInfinity);
  }
  KernelCheckOptions options;
  options.operands = {&x};
  OneNode one(kMaxPool, {x.type()}, {{"kernel", Ints{2, 2}}});
  EXPECT_GT(ExpectRight(one.node(), options, "max_pool"), 0u);
}

TEST(SpecialValues, SoftmaxOfALineWithNanIsNanAllOver) {
  for (const OpDef* op : {&kSoftmax, &kLogSoftmax}) {
    for (int64_t axis : {0, 1, 2}) {
      ExpectSprinkled(*op, {{3, 19, 35}}, {{"axis", axis}});
    }
  }
}

TEST(SpecialValues, Attention) {
  const Shape x = {2, 2, 5, 19};
  for (bool causal : {false, true}) {
    const Attributes attributes = {{"scale", 0.25}, {"causal", causal}};
    ExpectSprinkled(kAttention, {x, x, x}, attributes);
    ExpectSprinkled(kAttention, {x, x, x, {5, 5}}, attributes);
    ExpectSprinkled(kAttentionGradient, {x, x, x, x}, attributes);
    ExpectSprinkled(kAttentionGradient, {x, x, x, x, {5, 5}}, attributes);
  }
}

TEST(SpecialValues, NormsThatScaleOnly) {
  for (int64_t count : {5, 70}) {
    ExpectSprinkled(kLayerNorm, {{3, count}, {count}}, {{"center", false}});
  }
}

TEST(SpecialValues, Recurrences) {
  const Attributes both = {{"reverse", Ints{0, 1}}};
  ExpectSprinkled(kLstm, {{3, 2, 2, 76}, {2, 19, 76}, {2, 2, 19}, {2, 1, 19}},
                  both);
  ExpectSprinkled(kGru, {{3, 2, 2, 57}, {2, 19, 57}, {2, 2, 19}, {2, 19}},
                  both);
  ExpectSprinkled(kGru, {{3, 2, 1, 57}, {1, 19, 57}, {1, 2, 19}, {1, 19}},
                  {{"linear_before_reset", true}, {"clip", 1.5}});
  for (const char* function : {"tanh", "relu", "sigmoid"}) {
    ExpectSprinkled(kRnn, {{3, 2, 1, 19}, {1, 19, 19}, {1, 2, 19}},
                    {{"activations", std::string(function)}});
  }
}

TEST(SpecialValues, Normalisations) {
  ExpectSprinkled(kLayerNorm, {{5, 33}, {33}, {33}}, {});
  ExpectSprinkled(kLayerNormGradient, {{5, 33}, {33}, {5, 33}}, {});
  ExpectSprinkled(kLayerNormScaleGradient, {{5, 33}, {5, 33}}, {});
  for (int64_t c : {16, 19}) {
    const Attributes none;
    ExpectSprinkled(kBatchNorm, {{2, c, 3, 5}, {c}, {c}, {c}, {c}}, none);
  }
}

TEST(SpecialValues, ConvolutionsAndProducts) {
  // Some kernels multiply padding by a weight that is not finite, which gives
  // NaN.
  for (int64_t channels : {3, 16}) {
    ExpectSprinkled(kConv, {{1, channels, 9, 7}, {19, channels, 3, 3}, {19}},
                    {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}},
                    /*left_out=*/1);
    ExpectSprinkled(kConv, {{1, channels, 9, 7}, {32, channels, 1, 1}, {32}},
                    {});
    ExpectSprinkled(kConvTranspose, {{1, channels, 5, 7}, {channels, 5, 2, 2}},
                    {{"strides", Ints{2, 2}}});
  }
  ExpectSprinkled(kMatmul, {{5, 33}, {33, 19}}, {});
  ExpectSprinkled(kMatmul, {{3, 5, 33}, {3, 33, 19}}, {});
}

TEST(SpecialValues, ResizedImages) {
  ExpectSprinkled(kResize, {{1, 16, 5, 7}},
                  {{"mode", std::string("nearest")},
                   {"sizes", Ints{1, 16, 10, 21}},
                   {"coordinates", std::string("asymmetric")},
                   {"nearest", std::string("floor")}});
}

// The fast choices for activation(root(x, w) + b), with special values in b;
// checks against eval those that numerics.md does not except.
std::vector<KernelChoice> CheckBehind(const OpDef& root,
                                      const OpDef& activation) {
  const bool is_conv = &root == &kConv;
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const auto input = [&](const Shape& dims) {
    return body->AddInput("", F32(dims));
  };
  const auto add = [&](const OpDef& op, std::vector<ValueId> operands) {
    NodeSpec spec{.op = &op, .operands = {}, .attributes = {}};
    spec.operands.assign(operands.begin(), operands.end());
    return *body->AddValue(std::move(spec));
  };
  const ValueId x = input(is_conv ? Shape{1, 16, 5, 7} : Shape{35, 16});
  const ValueId w = input(is_conv ? Shape{37, 16, 1, 1} : Shape{16, 37});
  const ValueId b = input({37});
  const ValueId y =
      is_conv ? add(root, {x, w, b}) : add(kAdd, {add(root, {x, w}), b});
  body->SetOutputs({add(activation, {y})});
  const OneNode one(std::move(pool), std::move(body));
  std::vector<double> bias = {kNan, kInfinity, -kInfinity, -0.0, 1e-40};
  for (int i = 0; bias.size() < 37; ++i) bias.push_back(i % 7 - 3.0);
  bias[36] = kNan;
  const HostTensor values = Tensor(DType::kF32, bias);
  KernelCheckOptions options;
  options.tolerance = 1e-5;
  options.operands = {nullptr, nullptr, &values};
  ExpectRight(one.node(), options, activation.name);
  std::vector<KernelChoice> fast;
  for (KernelChoice& choice : HostCatalog().Choices(one.node(), TestCpu(1))) {
    if (!choice.fallback) fast.push_back(std::move(choice));
  }
  return fast;
}

// Below AVX2 oneDNN has only gemm for a convolution whose channels fill no
// block; its epilogue is then a loop of its own.
bool IsInParts(const OpDef& root) {
  const absl::string_view isa = IsaOfOnednn();
  return &root == &kConv && (isa == "sse4" || isa.empty());
}

TEST(SpecialValues, AfterConvolutionsAndProductsFiveOpsAreExcepted) {
  for (const OpDef* root : {&kConv, &kMatmul}) {
    for (const OpDef* op : {&kRelu, &kClip, &kHardSigmoid, &kSigmoid, &kSilu}) {
      for (const KernelChoice& choice : CheckBehind(*root, *op)) {
        EXPECT_TRUE(ViolatesIeee(choice)) << op->name;
      }
    }
    for (const OpDef* op : {&kTanh, &kHardSwish, &kGelu, &kElu, &kLeakyRelu,
                            &kAbs, &kSqrt, &kRound, &kNeg}) {
      const std::vector<KernelChoice> choices = CheckBehind(*root, *op);
      EXPECT_TRUE(!choices.empty() || IsInParts(*root)) << op->name;
      for (const KernelChoice& choice : choices) {
        EXPECT_FALSE(ViolatesIeee(choice)) << op->name;
      }
    }
    for (const OpDef* op : {&kExp, &kLog, &kSoftplus, &kMish}) {
      EXPECT_TRUE(CheckBehind(*root, *op).empty()) << op->name;
    }
  }
}

}  // namespace
}  // namespace partita
