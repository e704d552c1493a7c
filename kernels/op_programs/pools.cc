// The taps of a window, in row-major order.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <vector>

#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/window_taps.h"

namespace partita {
namespace {

Window WindowOfPool(const OpView& op) {
  return WindowOf(op, op.attr_ints("kernel"), Spatial(op.operand_type(0)),
                  Spatial(op.result_type(0)));
}

// Points are [planes, positions...], steps are taps.
absl::Status SetPool(IndexNode& node, const Window& window) {
  PARTITA_RETURN_IF_ERROR(CheckWindow(node, window));
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const Shape& y = node.op().result_type(0).dims;
  Shape dims = {y[0] * y[1]};
  dims.insert(dims.end(), window.small.begin(), window.small.end());
  node.SetPoints(dims);
  node.SetSteps(window.kernel);
  return absl::OkStatus();
}

// The tap of a step: its offset in the plane, and its element.
struct WindowTap {
  Register in_plane;
  Register x;
  Conditions exists;
};
WindowTap TapOf(const IndexNode& node, const IndexReader& read,
                const Window& window) {
  const std::vector<Register> point = node.Point(read);
  const TapPlace place = LargeOf(
      read, window, absl::MakeConstSpan(point).subspan(1), node.Step(read));
  const Register in_plane =
      read.Offset(place.at, RowMajorStrides(window.large));
  const Register offset =
      point[0] * read.Index(Product(window.large)) + in_plane;
  return {in_plane, read.Number(0, offset, place.exists.all()), place.exists};
}

// The least number of an operand's type, in the type it is computed in.
Register Lowest(const IndexNode& node, const IndexReader& read) {
  const ScalarType number = read.NumberType(0);
  if (IsFloatType(number)) {
    return read.Constant(number, -std::numeric_limits<double>::infinity());
  }
  const int64_t least = LeastOf(node.program().operands[0].type);
  return read.Bits(number, BytesOf(number) == 4 ? static_cast<uint32_t>(least)
                                                : static_cast<uint64_t>(least));
}

Register OrNan(Register condition, Register x) {
  return IsFloatType(x.type) ? condition | IsNan(x) : condition;
}

}  // namespace

absl::Status BuildMaxPool(IndexNode& node) {
  const Window window = WindowOfPool(node.op());
  PARTITA_RETURN_IF_ERROR(SetPool(node, window));
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {Lowest(node, read)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const WindowTap tap = TapOf(node, read, window);
    const Register top = read.State(0);
    const Register better = Select(OrNan(top < tap.x, tap.x), tap.x, top);
    return {tap.exists.Choose(better, top)};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(node.program().operands[0].type, read.State(0))};
  });
  return absl::OkStatus();
}

absl::Status BuildMaxPoolIndices(IndexNode& node) {
  const Window window = WindowOfPool(node.op());
  PARTITA_RETURN_IF_ERROR(SetPool(node, window));
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Index(-1), Lowest(node, read)};
  });
  // The first NaN, or else the first of the greatest.
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const WindowTap tap = TapOf(node, read, window);
    const Register best = read.State(0);
    const Register top = read.State(1);
    Register is_better = top < tap.x;
    if (IsFloatType(top.type)) {
      is_better = is_better | (IsNan(tap.x) & Equal(top, top));
    }
    is_better = is_better | (best < read.Index(0));
    return {tap.exists.Choose(Select(is_better, tap.in_plane, best), best),
            tap.exists.Choose(Select(is_better, tap.x, top), top)};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register best = read.State(0);
    return {Cast(Select(best < read.Index(0), read.Index(0), best),
                 ScalarType::kI64)};
  });
  return absl::OkStatus();
}

absl::Status BuildAvgPool(IndexNode& node) {
  const OpView& op = node.op();
  const Window window = WindowOfPool(op);
  PARTITA_RETURN_IF_ERROR(SetPool(node, window));
  if (!IsFloat(op.operand_type(0).dtype)) {
    return node.NotGenerated("an average of integers");
  }
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    const Register none = read.Constant(read.NumberType(0), 0);
    return {none, none};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const WindowTap tap = TapOf(node, read, window);
    const std::vector<Register> point = node.Point(read);
    const Conditions counts =
        Counts(read, window, absl::MakeConstSpan(point).subspan(1),
               node.Step(read), op.attr_bool("count_include_pad"));
    const Register sum = read.State(0);
    const Register count = read.State(1);
    return {tap.exists.Choose(sum + tap.x, sum),
            counts.Choose(count + 1.0, count)};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register count = read.State(1);
    const Register none = Like(count, 0);
    const Register mean =
        Select(Equal(count, none), none, read.State(0) / count);
    return {StoredNumber(node.program().operands[0].type, mean)};
  });
  return absl::OkStatus();
}

}  // namespace partita
