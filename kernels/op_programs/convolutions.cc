// Direct convolutions and both of their gradients. Taps outside an operand are
// left out, so that a weight that is not finite does not meet a pad's zero.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/products.h"
#include "kernels/op_programs/window_taps.h"

namespace partita {
namespace {

absl::Status SetOperands(IndexNode& node, const Window& window) {
  PARTITA_RETURN_IF_ERROR(CheckWindow(node, window));
  return node.SetOperands({OperandUse::kNumber});
}

// The sum begins with the bias of the result's channel, if there is one.
void StartWithBias(IndexNode& node) {
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    if (node.op().num_operands() < 3) {
      return {read.Constant(read.NumberType(0), 0)};
    }
    return {read.Number(2, node.Point(read)[1])};
  });
}

// Offset of [image, channel, place...] of a tensor with these extents.
Register PlaneOffset(const IndexReader& read, const Shape& dims, Register image,
                     Register channel, absl::Span<const Register> place) {
  std::vector<Register> at = {image, channel};
  at.insert(at.end(), place.begin(), place.end());
  return read.Offset(at, RowMajorStrides(dims));
}

// Offsets of the two factors of a product. Braces compute them in order, so
// that every compiler emits the same code.
struct Factors {
  Register tap;    // in operand 0
  Register other;  // in operand 1
};

// The sum so far, and the product if its tap exists.
std::vector<Register> AddTap(const IndexReader& read, const TapPlace& place,
                             const Factors& offsets) {
  const Register tap = read.Number(0, offsets.tap, place.exists.all());
  const Register other = read.Number(1, offsets.other);
  const Register sum = read.State(0);
  return {place.exists.Choose(AddProduct(sum, other, tap), sum)};
}

// Dimensions with others after them.
Shape Before(Shape dims, const Shape& others) {
  dims.insert(dims.end(), others.begin(), others.end());
  return dims;
}

}  // namespace

absl::Status BuildConv(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  const Shape& w = op.operand_type(1).dims;
  const Shape& y = op.result_type(0).dims;
  const Window window =
      WindowOf(op, Spatial(op.operand_type(1)), Spatial(op.operand_type(0)),
               Spatial(op.result_type(0)));
  PARTITA_RETURN_IF_ERROR(SetOperands(node, window));
  const int64_t filters = w[0] / op.attr_int("groups");
  node.SetPoints(y);
  node.SetSteps(Before({w[1]}, window.kernel));
  StartWithBias(node);
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const std::vector<Register> step = node.Step(read);
    const auto taps = absl::MakeConstSpan(step).subspan(1);
    const TapPlace place =
        LargeOf(read, window, absl::MakeConstSpan(point).subspan(2), taps);
    const Register group = Quotient(point[1], filters);
    const Register channel = op.attr_int("groups") == 1
                                 ? step[0]
                                 : group * read.Index(w[1]) + step[0];
    return AddTap(read, place,
                  {PlaneOffset(read, x, point[0], channel, place.at),
                   PlaneOffset(read, w, point[1], step[0], taps)});
  });
  StoreSum(node);
  return absl::OkStatus();
}

absl::Status BuildConvTranspose(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  const Shape& w = op.operand_type(1).dims;
  const Shape& y = op.result_type(0).dims;
  const Window window =
      WindowOf(op, Spatial(op.operand_type(1)), Spatial(op.result_type(0)),
               Spatial(op.operand_type(0)));
  PARTITA_RETURN_IF_ERROR(SetOperands(node, window));
  const int64_t filters = w[1];  // of a group
  const int64_t channels = x[1] / op.attr_int("groups");
  node.SetPoints(y);
  node.SetSteps(Before({channels}, window.kernel));
  StartWithBias(node);
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const std::vector<Register> step = node.Step(read);
    const auto taps = absl::MakeConstSpan(step).subspan(1);
    const TapPlace place =
        SmallOf(read, window, absl::MakeConstSpan(point).subspan(2), taps);
    const bool grouped = op.attr_int("groups") > 1;
    const Register filter = grouped ? Remainder(point[1], filters) : point[1];
    const Register channel =
        grouped ? Quotient(point[1], filters) * read.Index(channels) + step[0]
                : step[0];
    return AddTap(read, place,
                  {PlaneOffset(read, x, point[0], channel, place.at),
                   PlaneOffset(read, w, channel, filter, taps)});
  });
  StoreSum(node);
  return absl::OkStatus();
}

absl::Status BuildConvWeightGradient(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  const Shape& dy = op.operand_type(1).dims;
  const Shape& dw = op.result_type(0).dims;
  const Window window =
      WindowOf(op, op.attr_ints("kernel"), Spatial(op.operand_type(0)),
               Spatial(op.operand_type(1)));
  PARTITA_RETURN_IF_ERROR(SetOperands(node, window));
  const int64_t filters = dw[0] / op.attr_int("groups");
  node.SetPoints(dw);
  node.SetSteps(Before({x[0]}, window.small));
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0), 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const std::vector<Register> step = node.Step(read);
    const auto small = absl::MakeConstSpan(step).subspan(1);
    const TapPlace place =
        LargeOf(read, window, small, absl::MakeConstSpan(point).subspan(2));
    const Register channel =
        op.attr_int("groups") == 1
            ? point[1]
            : Quotient(point[0], filters) * read.Index(dw[1]) + point[1];
    return AddTap(read, place,
                  {PlaneOffset(read, x, step[0], channel, place.at),
                   PlaneOffset(read, dy, step[0], point[0], small)});
  });
  StoreSum(node);
  return absl::OkStatus();
}

}  // namespace partita
