// cpu.move: ops that move elements without changing them, for any dtype.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/host_tensor.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/copy/strided_copy.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/fill_elements.h"
#include "kernels/cpu/mirror_runs.h"

namespace partita {
namespace {

// One copy from an operand to a result.
struct Move {
  int operand;
  int result;
  StridedCopy copy;
};
using Moves = std::vector<Move>;

int ElementBytes(const OpView& node) {
  return BitsOf(node.result_type(0).dtype) / 8;
}

// Elements from_start + i * step of an operand go to to_start + i of a result,
// for i below size; one entry for each dimension.
struct Box {
  Shape from_start, to_start, size, step;
};

Box WholeBox(const TensorType& type) {
  const Shape zeros(type.dims.size(), 0);
  return {zeros, zeros, type.dims, Shape(type.dims.size(), 1)};
}

int64_t BlockOf(const Layout& layout, int dim) {
  int64_t block = 1;
  for (const Layout::Block& b : layout.blocks) {
    if (b.dim == dim) block *= b.size;
  }
  return block;
}

// True if the box consists of whole blocks, or of a whole dimension.
bool KeepsBlocks(const TensorType& from, const TensorType& to, const Box& box,
                 const Layout& layout) {
  for (int dim = 0; dim < from.rank(); ++dim) {
    const int64_t block = BlockOf(layout, dim);
    if (block == 1) continue;
    const int64_t size = box.size[dim];
    const bool to_ends = box.from_start[dim] + size == from.dims[dim] &&
                         box.to_start[dim] + size == to.dims[dim];
    if (box.step[dim] != 1 || box.from_start[dim] % block != 0 ||
        box.to_start[dim] % block != 0 || (size % block != 0 && !to_ends)) {
      return false;
    }
  }
  return true;
}

// Copies the box between two tensors with the same layout.
StridedCopy CopyBox(const TensorType& from, const TensorType& to,
                    const Box& box) {
  const Layout& layout = to.layout;
  const Shape from_strides = RowMajorStrides(PhysicalDims(layout, from.dims));
  const Shape to_strides = RowMajorStrides(PhysicalDims(layout, to.dims));
  std::vector<CopyDim> dims;
  int64_t from_offset = 0;
  int64_t to_offset = 0;
  for (int i = 0; i < to.rank(); ++i) {
    const int dim = layout.is_row_major() ? i : layout.order[i];
    const int64_t block = BlockOf(layout, dim);
    from_offset += box.from_start[dim] / block * from_strides[i];
    to_offset += box.to_start[dim] / block * to_strides[i];
    dims.push_back({(box.size[dim] + block - 1) / block,
                    from_strides[i] * box.step[dim], to_strides[i]});
  }
  for (size_t i = 0; i < layout.blocks.size(); ++i) {
    dims.push_back({layout.blocks[i].size, from_strides[to.rank() + i],
                    to_strides[to.rank() + i]});
  }
  return StridedCopy(BitsOf(to.dtype) / 8, dims, from_offset, to_offset);
}

int64_t Axis(const OpView& node, int rank) {
  const int64_t axis = node.attr_int("axis");
  return axis < 0 ? axis + rank : axis;
}

struct OperandBox {
  int operand;
  int result;
  Box box;
};

std::vector<OperandBox> ConcatBoxes(const OpView& node) {
  const int64_t axis = Axis(node, node.result_type(0).rank());
  std::vector<OperandBox> boxes;
  int64_t start = 0;
  for (int i = 0; i < node.num_operands(); ++i) {
    OperandBox box{i, 0, WholeBox(node.operand_type(i))};
    box.box.to_start[axis] = start;
    start += node.operand_type(i).dims[axis];
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::vector<OperandBox> SplitBoxes(const OpView& node) {
  const int64_t axis = Axis(node, node.operand_type(0).rank());
  std::vector<OperandBox> boxes;
  int64_t start = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    OperandBox box{0, i, WholeBox(node.result_type(i))};
    box.box.from_start[axis] = start;
    start += node.result_type(i).dims[axis];
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::vector<OperandBox> SliceBoxes(const OpView& node) {
  OperandBox box{0, 0, WholeBox(node.result_type(0))};
  const std::vector<int64_t>& starts = node.attr_ints("starts");
  const std::vector<int64_t>& steps = node.attr_ints("steps");
  box.box.from_start.assign(starts.begin(), starts.end());
  if (!steps.empty()) box.box.step.assign(steps.begin(), steps.end());
  std::vector<OperandBox> boxes;
  boxes.push_back(std::move(box));
  return boxes;
}

// The part of the operand that a padded result contains; cropping makes it
// smaller.
std::vector<OperandBox> PadBoxes(const OpView& node) {
  OperandBox box{0, 0, WholeBox(node.operand_type(0))};
  for (size_t dim = 0; dim < box.box.size.size(); ++dim) {
    const int64_t before = node.attr_ints("before")[dim];
    const int64_t after = node.attr_ints("after")[dim];
    box.box.from_start[dim] = std::max<int64_t>(0, -before);
    box.box.to_start[dim] = std::max<int64_t>(0, before);
    box.box.size[dim] =
        std::max<int64_t>(0, box.box.size[dim] + std::min<int64_t>(0, before) +
                                 std::min<int64_t>(0, after));
  }
  std::vector<OperandBox> boxes;
  boxes.push_back(std::move(box));
  return boxes;
}

// More are not worth a copy each.
constexpr size_t kMostBoxes = 128;

// For a mirrored operand, or for its edges: each combination of runs of the
// dimensions. Empty if there are too many, or nothing to copy.
std::vector<OperandBox> MirrorBoxes(const OpView& node) {
  std::vector<OperandBox> boxes(1);
  for (int dim = 0; dim < node.operand_type(0).rank(); ++dim) {
    std::vector<OperandBox> longer;
    for (const MirrorRun& run : MirrorRunsOf(node, dim)) {
      for (OperandBox box : boxes) {
        box.box.from_start.push_back(run.from);
        box.box.to_start.push_back(run.to);
        box.box.size.push_back(run.size);
        box.box.step.push_back(run.step);
        longer.push_back(std::move(box));
      }
    }
    if (longer.size() > kMostBoxes) return {};
    boxes = std::move(longer);
  }
  return boxes;
}

bool HasFill(const OpView& node) {
  return node.is(kPad) && node.attr_string("mode") == "constant";
}

// The boxes of ops that work in any one layout; empty for other ops.
std::vector<OperandBox> BoxesOf(const OpView& node) {
  if (node.is(kConcat)) return ConcatBoxes(node);
  if (node.is(kSplit)) return SplitBoxes(node);
  if (node.is(kSlice)) return SliceBoxes(node);
  if (node.is(kPad)) return HasFill(node) ? PadBoxes(node) : MirrorBoxes(node);
  return {};
}

// result[i] = operand[i0 of perm...]
void AddTranspose(const OpView& node, Moves& moves) {
  const Shape from = RowMajorStrides(node.operand_type(0).dims);
  const Shape to = RowMajorStrides(node.result_type(0).dims);
  std::vector<CopyDim> dims;
  for (size_t i = 0; i < to.size(); ++i) {
    dims.push_back(
        {node.result_type(0).dims[i], from[node.attr_ints("perm")[i]], to[i]});
  }
  moves.push_back({0, 0, StridedCopy(ElementBytes(node), dims)});
}

// Dimensions of extent 1, and missing leading ones, repeat.
void AddExpand(const OpView& node, Moves& moves) {
  const TensorType& x = node.operand_type(0);
  const Shape from = RowMajorStrides(x.dims);
  const Shape to = RowMajorStrides(node.result_type(0).dims);
  const int missing = node.result_type(0).rank() - x.rank();
  std::vector<CopyDim> dims;
  for (int i = 0; i < node.result_type(0).rank(); ++i) {
    const bool repeats = i < missing || x.dims[i - missing] == 1;
    dims.push_back(
        {node.result_type(0).dims[i], repeats ? 0 : from[i - missing], to[i]});
  }
  moves.push_back({0, 0, StridedCopy(ElementBytes(node), dims)});
}

void AddTile(const OpView& node, Moves& moves) {
  const TensorType& x = node.operand_type(0);
  const Shape from = RowMajorStrides(x.dims);
  const Shape to = RowMajorStrides(node.result_type(0).dims);
  std::vector<CopyDim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    dims.push_back({node.attr_ints("repeats")[i], 0, to[i] * x.dims[i]});
    dims.push_back({x.dims[i], from[i], to[i]});
  }
  moves.push_back({0, 0, StridedCopy(ElementBytes(node), dims)});
}

// depth [n, b, b, c, h, w] or [n, c, b, b, h, w]; plane [n, c, h, b, w, b].
// Channels last: the same with the channels after h and w.
void AddBlocks(const OpView& node, Moves& moves) {
  const bool to_depth = node.is(kSpaceToDepth);
  const bool last = !node.result_type(0).layout.is_row_major();
  const Shape& depth =
      to_depth ? node.result_type(0).dims : node.operand_type(0).dims;
  const bool dcr = to_depth || node.attr_string("mode") == "dcr";
  const int64_t b = node.attr_int("block");
  const int64_t c = depth[1] / (b * b), h = depth[2], w = depth[3];
  // Strides: of a channel and a column in depth, of a column in the plane.
  const int64_t unit = last ? 1 : h * w;
  const int64_t column = last ? depth[1] : 1;
  const int64_t plane_column = last ? c : 1;
  const int64_t row = w * b * plane_column;  // of the plane
  const int64_t channel = dcr ? unit : unit * b * b;
  const int64_t block = dcr ? unit * c : unit;
  const CopyDim channels = {c, channel, last ? 1 : h * b * row};
  // size, stride in depth, stride in the plane
  std::vector<CopyDim> dims = {
      {depth[0], depth[1] * h * w, c * h * b * w * b},
      {h, w * column, b * row},
      {b, block * b, row},
      {w, column, b * plane_column},
      {b, block, plane_column},
  };
  dims.insert(last ? dims.end() : dims.begin() + 1, channels);
  if (to_depth) {
    for (CopyDim& dim : dims) std::swap(dim.from, dim.to);
  }
  moves.push_back({0, 0, StridedCopy(ElementBytes(node), dims)});
}

void AddReshape(const OpView& node, Moves& moves) {
  const CopyDim all = {node.result_type(0).num_elements(), 1, 1};
  moves.push_back(
      {0, 0, StridedCopy(ElementBytes(node), absl::MakeConstSpan(&all, 1))});
}

using AddMoves = void (*)(const OpView& node, Moves& moves);
AddMoves RowMajorMoves(const OpView& node) {
  if (node.is(kTranspose)) return AddTranspose;
  if (node.is(kExpand)) return AddExpand;
  if (node.is(kTile)) return AddTile;
  if (node.is(kDepthToSpace) || node.is(kSpaceToDepth)) return AddBlocks;
  if (node.is(kReshape)) return AddReshape;
  return nullptr;
}

bool KeepsBlocks(const OpView& node, const std::vector<OperandBox>& boxes,
                 const Layout& layout) {
  // The padding value must not be written into the layout's padding.
  TensorType result = node.result_type(0);
  result.layout = layout;
  if (HasFill(node) && node.attr_number("value") != Number() &&
      result.num_stored_elements() != result.num_elements()) {
    return false;
  }
  for (const OperandBox& box : boxes) {
    if (!KeepsBlocks(node.operand_type(box.operand),
                     node.result_type(box.result), box.box, layout)) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> Layouts(const OpView& node) {
  if (node.is(kDepthToSpace) || node.is(kSpaceToDepth)) return {"", "acdb"};
  if (RowMajorMoves(node) != nullptr) return {""};
  const std::vector<OperandBox> boxes = BoxesOf(node);
  if (boxes.empty()) return {};
  std::vector<std::string> layouts = {""};
  static constexpr const char* kImages[][3] = {
      {"acb", "abc16b", "abc8b"},
      {"acdb", "abcd16b", "abcd8b"},
      {"acdeb", "abcde16b", "abcde8b"}};
  const int rank = node.operand_type(0).rank();
  if (rank < 3 || rank > 5) return layouts;
  for (const char* text : kImages[rank - 3]) {
    const absl::StatusOr<Layout> layout = ParseLayout(text, rank);
    if (KeepsBlocks(node, boxes, *layout)) layouts.push_back(text);
  }
  return layouts;
}

class MoveKernel : public Kernel {
 public:
  MoveKernel(const OpView& node, int threads) : threads_(threads) {
    if (AddMoves add = RowMajorMoves(node)) add(node, moves_);
    for (const OperandBox& box : BoxesOf(node)) {
      moves_.push_back({box.operand, box.result,
                        CopyBox(node.operand_type(box.operand),
                                node.result_type(box.result), box.box)});
    }
    if (HasFill(node)) SetFill(node);
  }

  absl::Status Launch(const LaunchArgs& args) override {
    if (fill_.has_value()) {
      FillElements(fill_->byte_span(), fill_count_,
                   static_cast<std::byte*>(args.results[0]));
    }
    for (const Move& move : moves_) {
      move.copy.Run(args.operands[move.operand], args.results[move.result],
                    threads_);
    }
    return absl::OkStatus();
  }

 private:
  void SetFill(const OpView& node) {
    TensorType scalar;
    scalar.dtype = node.result_type(0).dtype;
    fill_.emplace(scalar);
    SetNumber(*fill_, 0, node.attr_number("value"));
    fill_count_ = node.result_type(0).num_stored_elements();
  }

  std::vector<Move> moves_;
  // the value of every element before the moves
  std::optional<HostTensor> fill_;
  int64_t fill_count_ = 0;
  int threads_;
};

}  // namespace

extern const CpuFamily kCpuMove = {
    .kernel = "cpu.move",
    .bandwidth = 0.4,
    .exact = true,
    .layouts = Layouts,
    .bind = NewKernel<MoveKernel>,
};

}  // namespace partita
