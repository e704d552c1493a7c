// The windows of an element, in the order of its taps. The inner steps go
// through the taps of each window again, as no thread keeps what another needs.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/window_taps.h"

namespace partita {
namespace {

// Points are [planes, elements...]; steps are the tap of a window at which the
// element is, then a tap of that window.
void SetBackward(IndexNode& node, const Window& window) {
  const Shape& dx = node.op().result_type(0).dims;
  Shape dims = window.large;
  dims.insert(dims.begin(), dx[0] * dx[1]);
  node.SetPoints(dims);
  Shape steps = window.kernel;
  steps.insert(steps.end(), window.kernel.begin(), window.kernel.end());
  node.SetSteps(steps);
}

// What one step knows of a window.
struct Backward {
  std::vector<Register> point;
  TapPlace small;               // the window's position
  std::vector<Register> inner;  // a tap of the window
  Register is_first;            // of the window's taps
  Register is_last;
};

Backward BackwardOf(const IndexNode& node, const IndexReader& read,
                    const Window& window) {
  const std::vector<Register> point = node.Point(read);
  const std::vector<Register> steps = node.Step(read);
  const auto taps = absl::MakeConstSpan(steps);
  const size_t rank = static_cast<size_t>(window.rank());
  Conditions first;
  Conditions last;
  for (size_t d = 0; d < rank; ++d) {
    first.Add(Equal(taps[rank + d], read.Index(0)));
    last.Add(Equal(taps[rank + d], read.Index(window.kernel[d] - 1)));
  }
  return {point,
          SmallOf(read, window, absl::MakeConstSpan(point).subspan(1),
                  taps.subspan(0, rank)),
          {taps.begin() + rank, taps.end()},
          *first.all(),
          *last.all()};
}

// The window's element of dy, or 0 if there is no such window.
Register GradientOf(const IndexReader& read, size_t operand,
                    const Window& window, const Backward& b) {
  const Register offset =
      b.point[0] * read.Index(Product(window.small)) +
      read.Offset(b.small.at, RowMajorStrides(window.small));
  return read.Number(operand, offset, b.small.exists.all());
}

}  // namespace

absl::Status BuildMaxPoolGradient(IndexNode& node) {
  const OpView& op = node.op();
  const Window window =
      WindowOf(op, op.attr_ints("kernel"), Spatial(op.operand_type(0)),
               Spatial(op.operand_type(1)));
  PARTITA_RETURN_IF_ERROR(CheckWindow(node, window));
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  SetBackward(node, window);
  // The sum; the window's greatest element so far, and its offset in the plane.
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(1), 0),
            read.Constant(read.NumberType(0), 0), read.Index(-1)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const Backward b = BackwardOf(node, read, window);
    const Shape strides = RowMajorStrides(window.large);
    TapPlace tap = LargeOf(read, window, b.small.at, b.inner);
    tap.exists.Add(*b.small.exists.all());
    const Register in_plane = read.Offset(tap.at, strides);
    const Register x = read.Number(
        0, b.point[0] * read.Index(Product(window.large)) + in_plane,
        tap.exists.all());
    const Register top = read.State(1);
    const Register best = Select(b.is_first, read.Index(-1), read.State(2));
    Register is_better = (best < read.Index(0)) | (top < x);
    if (IsFloatType(x.type)) is_better = is_better | IsNan(x);
    is_better = *tap.exists.all() & is_better;
    const Register greatest = Select(is_better, in_plane, best);
    const Register own =
        read.Offset(absl::MakeConstSpan(b.point).subspan(1), strides);
    const Register is_own = b.is_last & Equal(greatest, own);
    const Register sum = read.State(0);
    const Register dy = GradientOf(read, 1, window, b);
    return {Select(*b.small.exists.all() & is_own, sum + dy, sum),
            Select(is_better, x, top), greatest};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(node.program().operands[0].type, read.State(0))};
  });
  return absl::OkStatus();
}

absl::Status BuildAvgPoolGradient(IndexNode& node) {
  const OpView& op = node.op();
  const Window window =
      WindowOf(op, op.attr_ints("kernel"), op.attr_ints("sizes"),
               Spatial(op.operand_type(0)));
  PARTITA_RETURN_IF_ERROR(CheckWindow(node, window));
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  SetBackward(node, window);
  // The sum, and how many taps of the window count.
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    const Register none = read.Constant(read.NumberType(0), 0);
    return {none, none};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const Backward b = BackwardOf(node, read, window);
    const Conditions counts = Counts(read, window, b.small.at, b.inner,
                                     op.attr_bool("count_include_pad"));
    const Register none = read.Constant(read.NumberType(0), 0);
    const Register before = Select(b.is_first, none, read.State(1));
    const Register count = counts.Choose(before + 1.0, before);
    const Register sum = read.State(0);
    const Register more = sum + GradientOf(read, 0, window, b) / count;
    return {Select(*b.small.exists.all() & b.is_last, more, sum), count};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(node.program().operands[0].type, read.State(0))};
  });
  return absl::OkStatus();
}

}  // namespace partita
