// Strided copies, and their description as blocks.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/byte_moves.h"

#include <algorithm>
#include <cstring>

#include "graph/ops/strided.h"

namespace partita {
namespace {

constexpr int64_t kMaxMoves = 16;

// Calls visit with an unsigned integer of the element's width.
template <typename Visitor>
void VisitWidth(DType dtype, Visitor&& visit) {
  switch (BitsOf(dtype)) {
    case 8:
      return visit(uint8_t{});
    case 16:
      return visit(uint16_t{});
    case 32:
      return visit(uint32_t{});
    default:
      return visit(uint64_t{});
  }
}

bool IsEmpty(const StridedMove& move) {
  return std::count(move.dims.begin(), move.dims.end(), 0) > 0;
}

// Removes the contiguous innermost dimension from a merged move and returns its
// extent; 1 if there is none.
int64_t TakeBlock(StridedMove& move) {
  if (move.dims.empty() || move.from_strides.back() != 1 ||
      move.to_strides.back() != 1) {
    return 1;
  }
  const int64_t block = move.dims.back();
  move.dims.pop_back();
  move.from_strides.pop_back();
  move.to_strides.pop_back();
  return block;
}

// Appends the blocks of one move; false if there are too many.
bool AppendMoves(StridedMove move, int64_t bytes,
                 std::vector<ByteMove>& moves) {
  if (IsEmpty(move)) return true;
  MergeDims(move);
  const int64_t block = TakeBlock(move);
  ByteMove one{move.operand, move.result};
  one.block = block * bytes;
  if (!move.dims.empty()) {  // The longest dimension is the count.
    const auto longest = std::max_element(move.dims.begin(), move.dims.end());
    const size_t axis = longest - move.dims.begin();
    one.count = *longest;
    one.operand_stride = move.from_strides[axis] * bytes;
    one.result_stride = move.to_strides[axis] * bytes;
    if (one.operand_stride < 0 || one.result_stride < 0) return false;
    move.dims[axis] = 1;
  }
  int64_t copies = 1;
  for (int64_t dim : move.dims) copies *= dim;
  if (copies + static_cast<int64_t>(moves.size()) > kMaxMoves) return false;
  ForEachOffset<2>(move.dims, {move.from_strides, move.to_strides},
                   [&](const std::array<int64_t, 2>& at) {
                     one.operand_offset = (move.from_offset + at[0]) * bytes;
                     one.result_offset = (move.to_offset + at[1]) * bytes;
                     moves.push_back(one);
                   });
  return true;
}

}  // namespace

void MergeDims(StridedMove& move) {
  Shape dims, from, to;
  for (size_t i = 0; i < move.dims.size(); ++i) {
    const int64_t dim = move.dims[i];
    if (dim == 1) continue;
    if (!dims.empty() && from.back() == move.from_strides[i] * dim &&
        to.back() == move.to_strides[i] * dim) {
      dims.back() *= dim;
      from.back() = move.from_strides[i];
      to.back() = move.to_strides[i];
      continue;
    }
    dims.push_back(dim);
    from.push_back(move.from_strides[i]);
    to.push_back(move.to_strides[i]);
  }
  move.dims = dims;
  move.from_strides = from;
  move.to_strides = to;
}

absl::Status DoMoves(absl::Span<const StridedMove> moves,
                     absl::Span<const HostTensor> operands,
                     absl::Span<HostTensor> results) {
  for (StridedMove move : moves) {
    if (IsEmpty(move)) continue;
    MergeDims(move);
    const int64_t block = TakeBlock(move);
    VisitWidth(results[move.result].type().dtype, [&](auto width) {
      using T = decltype(width);
      const T* from =
          reinterpret_cast<const T*>(operands[move.operand].bytes());
      T* to = reinterpret_cast<T*>(results[move.result].bytes());
      ForEachOffset<2>(move.dims, {move.from_strides, move.to_strides},
                       [&](const std::array<int64_t, 2>& at) {
                         std::copy_n(from + move.from_offset + at[0], block,
                                     to + move.to_offset + at[1]);
                       });
    });
  }
  return absl::OkStatus();
}

std::optional<std::vector<ByteMove>> AsByteMoves(
    const OpView& op, absl::Span<const StridedMove> moves) {
  std::vector<ByteMove> blocks;
  for (const StridedMove& move : moves) {
    const int64_t bytes = BitsOf(op.result_type(move.result).dtype) / 8;
    if (!AppendMoves(move, bytes, blocks)) return std::nullopt;
  }
  return blocks;
}

void CopyByIndex(const HostTensor& operand,
                 const std::vector<std::vector<int64_t>>& sources,
                 HostTensor& result) {
  const Shape& dims = result.type().dims;
  if (result.type().num_elements() == 0) return;
  const Shape strides = RowMajorStrides(operand.type().dims);
  VisitWidth(result.type().dtype, [&](auto width) {
    using T = decltype(width);
    const T* from = reinterpret_cast<const T*>(operand.bytes());
    T* to = reinterpret_cast<T*>(result.bytes());
    if (dims.empty()) {
      *to = *from;
      return;
    }
    const size_t last = dims.size() - 1;
    const absl::Span<const int64_t> outer =
        absl::MakeConstSpan(dims).subspan(0, last);
    const std::array<Shape, 1> none = {Shape(last, 0)};
    std::array<int64_t, 1> unused = {};
    Shape index(last, 0);
    do {
      int64_t base = 0;
      bool missing = false;
      for (size_t i = 0; i < last; ++i) {
        missing |= sources[i][index[i]] < 0;
        base += sources[i][index[i]] * strides[i];
      }
      for (int64_t i = 0; i < dims[last]; ++i, ++to) {
        const int64_t source = sources[last][i];
        if (!missing && source >= 0) *to = from[base + source];
      }
    } while (NextPosition(outer, none, index, unused));
  });
}

Cost MoveCost(const OpView& op) {
  Cost cost;
  for (int i = 0; i < op.num_results(); ++i) {
    cost.bytes += 2.0 * op.result_type(i).RowMajor().num_bytes();
  }
  return cost;
}

}  // namespace partita
