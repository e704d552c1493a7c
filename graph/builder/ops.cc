// Each function makes one op and passes its attributes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/ops.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

Tensor Binary(const OpDef& op, const Operand& a, const Operand& b) {
  const Tensor& known = a.is_number ? b.tensor : a.tensor;
  if (!known.valid()) return {};
  const auto tensor = [&](const Operand& operand) {
    if (!operand.is_number) return operand.tensor;
    return known.builder()->Scalar(known.type().dtype, operand.number,
                                   operand.site);
  };
  return Op(op, {tensor(a), tensor(b)}, {}, a.site);
}

Tensor Reduce(const OpDef& op, Tensor x, Ints axes, bool keep_dims,
              CallSite site) {
  return Op(op, {x}, {{"axes", std::move(axes)}, {"keep_dims", keep_dims}},
            site);
}

Attributes ConvAttributes(ConvOptions options) {
  return {{"strides", std::move(options.strides)},
          {"dilations", std::move(options.dilations)},
          {"pads_before", std::move(options.pads_before)},
          {"pads_after", std::move(options.pads_after)},
          {"groups", options.groups}};
}

Attributes PoolAttributes(PoolOptions options) {
  return {{"kernel", std::move(options.kernel)},
          {"strides", std::move(options.strides)},
          {"pads_before", std::move(options.pads_before)},
          {"pads_after", std::move(options.pads_after)}};
}

}  // namespace

Tensor Op(const OpDef& op, absl::Span<const Tensor> operands,
          Attributes attributes, CallSite site) {
  for (const Tensor& operand : operands) {
    if (operand.builder() == nullptr) continue;
    return operand.builder()->Op(op, operands, std::move(attributes), site);
  }
  return {};
}

Tensor operator+(Operand a, Operand b) { return Binary(kAdd, a, b); }
Tensor operator-(Operand a, Operand b) { return Binary(kSub, a, b); }
Tensor operator*(Operand a, Operand b) { return Binary(kMul, a, b); }
Tensor operator/(Operand a, Operand b) { return Binary(kDiv, a, b); }
Tensor operator-(Operand x) { return Neg(x.tensor, x.site); }
Tensor Add(Operand a, Operand b) { return Binary(kAdd, a, b); }
Tensor Sub(Operand a, Operand b) { return Binary(kSub, a, b); }
Tensor Mul(Operand a, Operand b) { return Binary(kMul, a, b); }
Tensor Div(Operand a, Operand b) { return Binary(kDiv, a, b); }
Tensor Pow(Operand a, Operand b) { return Binary(kPow, a, b); }
Tensor Min(Operand a, Operand b) { return Binary(kMin, a, b); }
Tensor Max(Operand a, Operand b) { return Binary(kMax, a, b); }
Tensor Less(Operand a, Operand b) { return Binary(kLess, a, b); }
Tensor Greater(Operand a, Operand b) { return Binary(kGreater, a, b); }
Tensor GreaterEqual(Operand a, Operand b) {
  return Binary(kGreaterEqual, a, b);
}
Tensor Equal(Operand a, Operand b) { return Binary(kEqual, a, b); }

Tensor Select(Tensor condition, Tensor x, Tensor y, CallSite site) {
  return Op(kWhere, {condition, x, y}, {}, site);
}

Tensor Abs(Tensor x, CallSite site) { return Op(kAbs, {x}, {}, site); }
Tensor Neg(Tensor x, CallSite site) { return Op(kNeg, {x}, {}, site); }
Tensor Exp(Tensor x, CallSite site) { return Op(kExp, {x}, {}, site); }
Tensor Log(Tensor x, CallSite site) { return Op(kLog, {x}, {}, site); }
Tensor Sqrt(Tensor x, CallSite site) { return Op(kSqrt, {x}, {}, site); }
Tensor Tanh(Tensor x, CallSite site) { return Op(kTanh, {x}, {}, site); }
Tensor Cos(Tensor x, CallSite site) { return Op(kCos, {x}, {}, site); }
Tensor Floor(Tensor x, CallSite site) { return Op(kFloor, {x}, {}, site); }
Tensor Erf(Tensor x, CallSite site) { return Op(kErf, {x}, {}, site); }
Tensor Sigmoid(Tensor x, CallSite site) { return Op(kSigmoid, {x}, {}, site); }
Tensor Relu(Tensor x, CallSite site) { return Op(kRelu, {x}, {}, site); }
Tensor Gelu(Tensor x, CallSite site) { return Op(kGelu, {x}, {}, site); }
Tensor Silu(Tensor x, CallSite site) { return Op(kSilu, {x}, {}, site); }

Tensor Clip(Tensor x, double min, double max, CallSite site) {
  return Op(kClip, {x}, {{"min", min}, {"max", max}}, site);
}

Tensor Cast(Tensor x, DType to, CallSite site) {
  return Op(kCast, {x}, {{"to", to}}, site);
}

Tensor StopGradient(Tensor x, CallSite site) {
  return Op(kStopGradient, {x}, {}, site);
}

Tensor MatMul(Tensor a, Tensor b, MatMulOptions options, CallSite site) {
  return Op(kMatmul, {a, b},
            {{"transpose_a", options.transpose_a},
             {"transpose_b", options.transpose_b}},
            site);
}

Tensor Conv(Tensor x, Tensor w, ConvOptions options, CallSite site) {
  return Op(kConv, {x, w}, ConvAttributes(std::move(options)), site);
}

Tensor Conv(Tensor x, Tensor w, Tensor bias, ConvOptions options,
            CallSite site) {
  return Op(kConv, {x, w, bias}, ConvAttributes(std::move(options)), site);
}

Tensor MaxPool(Tensor x, PoolOptions options, CallSite site) {
  return Op(kMaxPool, {x}, PoolAttributes(std::move(options)), site);
}

Tensor AvgPool(Tensor x, PoolOptions options, CallSite site) {
  return Op(kAvgPool, {x}, PoolAttributes(std::move(options)), site);
}

Tensor Softmax(Tensor x, int64_t axis, CallSite site) {
  return Op(kSoftmax, {x}, {{"axis", axis}}, site);
}

Tensor LogSoftmax(Tensor x, int64_t axis, CallSite site) {
  return Op(kLogSoftmax, {x}, {{"axis", axis}}, site);
}

Tensor Attention(Tensor x, AttentionOptions options, CallSite site) {
  if (!x.valid()) return {};
  if (x.rank() != 5 || x.dim(2) != 3) {
    x.builder()->Fail(
        absl::StrCat("attention: found ", x.type().ToString(),
                     "; expected queries, keys and values as [n, positions, 3, "
                     "heads, size]; reshape or concatenate them"),
        site);
    return {};
  }
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor part = Slice(x, 2, i, 1, site);
    parts.push_back(Reshape(
        part, {part.dim(0), part.dim(1), part.dim(3), part.dim(4)}, site));
  }
  const double size = static_cast<double>(x.dim(4));
  return Op(kAttention, parts,
            {{"scale", 1 / std::sqrt(size)},
             {"causal", options.causal},
             {"positions_first", true}},
            site);
}

Tensor BatchNorm(Tensor x, Tensor scale, Tensor bias, Tensor mean,
                 Tensor variance, double epsilon, CallSite site) {
  return Op(kBatchNorm, {x, scale, bias, mean, variance},
            {{"epsilon", epsilon}}, site);
}

Tensor ReduceSum(Tensor x, Ints axes, bool keep_dims, CallSite site) {
  return Reduce(kReduceSum, x, std::move(axes), keep_dims, site);
}
Tensor ReduceMean(Tensor x, Ints axes, bool keep_dims, CallSite site) {
  return Reduce(kReduceMean, x, std::move(axes), keep_dims, site);
}
Tensor ReduceMax(Tensor x, Ints axes, bool keep_dims, CallSite site) {
  return Reduce(kReduceMax, x, std::move(axes), keep_dims, site);
}
Tensor ReduceMin(Tensor x, Ints axes, bool keep_dims, CallSite site) {
  return Reduce(kReduceMin, x, std::move(axes), keep_dims, site);
}

Tensor Reshape(Tensor x, Ints shape, CallSite site) {
  return Op(kReshape, {x}, {{"shape", std::move(shape)}}, site);
}

Tensor Transpose(Tensor x, Ints perm, CallSite site) {
  return Op(kTranspose, {x}, {{"perm", std::move(perm)}}, site);
}

Tensor Slice(Tensor x, int64_t axis, int64_t start, int64_t size,
             CallSite site) {
  if (!x.valid()) return {};
  if (axis < 0 || axis >= x.rank()) {
    x.builder()->Fail(
        absl::StrCat("slice: found axis ", axis, " on ", x.type().ToString(),
                     "; expected 0..", x.rank() - 1, "; correct the axis"),
        site);
    return {};
  }
  const Shape& dims = x.type().dims;
  Ints sizes(dims.begin(), dims.end());
  Ints starts(sizes.size(), 0);
  sizes[axis] = size;
  starts[axis] = start;
  return Op(kSlice, {x},
            {{"starts", std::move(starts)}, {"sizes", std::move(sizes)}}, site);
}

Tensor Concat(absl::Span<const Tensor> parts, int64_t axis, CallSite site) {
  return Op(kConcat, parts, {{"axis", axis}}, site);
}

}  // namespace partita
