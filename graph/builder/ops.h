// The common ops as functions and operators of Tensor.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_OPS_H_
#define PARTITA_GRAPH_BUILDER_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/builder/graph_builder.h"

namespace partita {

using Ints = std::vector<int64_t>;

// A tensor, or a number that becomes a scalar of the other operand's dtype;
// with the line of code of the operator.
struct Operand {
  Operand(Tensor x, CallSite where = CallSite::current())  // NOLINT: implicit
      : tensor(x), site(where) {}
  Operand(double x, CallSite where = CallSite::current())  // NOLINT: implicit
      : number(x), is_number(true), site(where) {}
  Tensor tensor;
  double number = 0;
  bool is_number = false;
  CallSite site;
};

// Elementwise, with numpy's broadcasting.
Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
Tensor operator/(Operand a, Operand b);
Tensor operator-(Operand x);
Tensor Add(Operand a, Operand b);
Tensor Sub(Operand a, Operand b);
Tensor Mul(Operand a, Operand b);
Tensor Div(Operand a, Operand b);
Tensor Pow(Operand a, Operand b);
Tensor Min(Operand a, Operand b);
Tensor Max(Operand a, Operand b);
Tensor Less(Operand a, Operand b);
Tensor Greater(Operand a, Operand b);
Tensor GreaterEqual(Operand a, Operand b);
Tensor Equal(Operand a, Operand b);
Tensor Select(Tensor condition, Tensor x, Tensor y,
              CallSite site = CallSite::current());

Tensor Abs(Tensor x, CallSite site = CallSite::current());
Tensor Neg(Tensor x, CallSite site = CallSite::current());
Tensor Exp(Tensor x, CallSite site = CallSite::current());
Tensor Log(Tensor x, CallSite site = CallSite::current());
Tensor Sqrt(Tensor x, CallSite site = CallSite::current());
Tensor Tanh(Tensor x, CallSite site = CallSite::current());
Tensor Cos(Tensor x, CallSite site = CallSite::current());
Tensor Floor(Tensor x, CallSite site = CallSite::current());
Tensor Erf(Tensor x, CallSite site = CallSite::current());
Tensor Sigmoid(Tensor x, CallSite site = CallSite::current());
Tensor Relu(Tensor x, CallSite site = CallSite::current());
Tensor Gelu(Tensor x, CallSite site = CallSite::current());
Tensor Silu(Tensor x, CallSite site = CallSite::current());
Tensor Clip(Tensor x, double min, double max,
            CallSite site = CallSite::current());
Tensor Cast(Tensor x, DType to, CallSite site = CallSite::current());
// x; no gradient flows through it.
Tensor StopGradient(Tensor x, CallSite site = CallSite::current());

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
Tensor MatMul(Tensor a, Tensor b, MatMulOptions options = {},
              CallSite site = CallSite::current());

// Lists hold one entry for each spatial dimension; empty ones mean 1 (0 for
// pads).
struct ConvOptions {
  Ints strides = {};
  Ints pads_before = {};
  Ints pads_after = {};
  Ints dilations = {};
  int64_t groups = 1;
};
// x: N, C, spatial...; w: O, C / groups, spatial...
Tensor Conv(Tensor x, Tensor w, ConvOptions options = {},
            CallSite site = CallSite::current());
Tensor Conv(Tensor x, Tensor w, Tensor bias, ConvOptions options = {},
            CallSite site = CallSite::current());

struct PoolOptions {
  Ints kernel;
  Ints strides = {};
  Ints pads_before = {};
  Ints pads_after = {};
};
Tensor MaxPool(Tensor x, PoolOptions options,
               CallSite site = CallSite::current());
Tensor AvgPool(Tensor x, PoolOptions options,
               CallSite site = CallSite::current());

Tensor Softmax(Tensor x, int64_t axis = -1,
               CallSite site = CallSite::current());
Tensor LogSoftmax(Tensor x, int64_t axis = -1,
                  CallSite site = CallSite::current());

struct AttentionOptions {
  bool causal = false;  // no position sees later ones
};
// x: queries, keys and values as [n, positions, 3, heads, size]. The result is
// [n, positions, heads, size].
Tensor Attention(Tensor x, AttentionOptions options = {},
                 CallSite site = CallSite::current());

// Per channel (dimension 1): (x - mean) / sqrt(variance + epsilon) * scale +
// bias.
Tensor BatchNorm(Tensor x, Tensor scale, Tensor bias, Tensor mean,
                 Tensor variance, double epsilon = 1e-5,
                 CallSite site = CallSite::current());

Tensor ReduceSum(Tensor x, Ints axes, bool keep_dims = true,
                 CallSite site = CallSite::current());
Tensor ReduceMean(Tensor x, Ints axes, bool keep_dims = true,
                  CallSite site = CallSite::current());
Tensor ReduceMax(Tensor x, Ints axes, bool keep_dims = true,
                 CallSite site = CallSite::current());
Tensor ReduceMin(Tensor x, Ints axes, bool keep_dims = true,
                 CallSite site = CallSite::current());

Tensor Reshape(Tensor x, Ints shape, CallSite site = CallSite::current());
Tensor Transpose(Tensor x, Ints perm, CallSite site = CallSite::current());
// Elements [start, start + size) of one dimension.
Tensor Slice(Tensor x, int64_t axis, int64_t start, int64_t size,
             CallSite site = CallSite::current());
Tensor Concat(absl::Span<const Tensor> parts, int64_t axis,
              CallSite site = CallSite::current());

// Any op with at least one operand, as GraphBuilder::Op.
Tensor Op(const OpDef& op, absl::Span<const Tensor> operands,
          Attributes attributes = {}, CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_OPS_H_
