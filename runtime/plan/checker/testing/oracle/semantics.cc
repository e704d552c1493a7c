// What nodes do to symbolic bytes, element by element.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/semantics.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "graph/core_ops.h"
#include "graph/layout.h"
#include "graph/op_def.h"
#include "graph/shard.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

ValueSharding ValueShardingOf(const Node& node,
                              const std::vector<Sharding>& all, int index) {
  ValueSharding held;
  held.ranks =
      std::max<int>(1, static_cast<int>(node.placement.devices.size()));
  if (held.ranks > 1 && !all.empty()) held.sharding = all[index];
  return held;
}

bool MovesWhole(const OpView& node) {
  if (node.op().moves == nullptr) return false;
  for (int i = 0; i < node.num_operands(); ++i) {
    if (OperandValueSharding(node.node(), i).sharding.kind !=
            Kind::kReplicated ||
        !node.operand_type(i).layout.is_row_major()) {
      return false;
    }
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (ResultValueSharding(node.node(), i).sharding.kind !=
            Kind::kReplicated ||
        !node.result_type(i).layout.is_row_major()) {
      return false;
    }
  }
  return true;
}

// The offsets in the whole value of what a rank reads as operand `k`.
std::vector<int64_t> OperandOffsets(const OpView& node, int k, int rank) {
  return OffsetsInWhole(node.operand_type(k),
                        OperandValueSharding(node.node(), k), rank);
}

// The stored bytes in the order of the elements, then the padding: a kernel
// finds each element, whatever the layout, and may read padding.
Bytes ByElement(const std::vector<int64_t>& offsets, const Bytes& stored) {
  std::vector<size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), 0);
  const auto position = [&](size_t i) {
    return std::pair(offsets[i] == kPadding, offsets[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return position(a) < position(b);
  });
  Bytes bytes;
  for (size_t i : order) bytes.push_back(stored[i]);
  return bytes;
}

Bytes Opaque(TermTable& terms, const OpView& node, int result, int rank,
             MicroBatchId micro_batch, const std::vector<Bytes>& operands) {
  const ValueSharding held = ResultValueSharding(node.node(), result);
  const int64_t own = held.sharding.kind == Kind::kReplicated ? 0 : rank;
  std::vector<int64_t> reads;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Bytes read =
        ByElement(OperandOffsets(node, static_cast<int>(k), rank), operands[k]);
    reads.push_back(-static_cast<int64_t>(read.size()));
    reads.insert(reads.end(), read.begin(), read.end());
  }
  const std::vector<int64_t> offsets =
      OffsetsInWhole(node.result_type(result), held, rank);
  Bytes bytes;
  for (size_t b = 0; b < offsets.size(); ++b) {
    if (offsets[b] == kPadding) {
      bytes.push_back(terms.Make({kZeroTerm}));
      continue;
    }
    std::vector<int64_t> parts = {
        kComputedTerm,
        node.id().index,
        result,
        own,
        ChangesWithMicroBatch(node) ? micro_batch.index : 0,
        static_cast<int64_t>(b)};
    parts.insert(parts.end(), reads.begin(), reads.end());
    bytes.push_back(terms.Make(parts));
  }
  return bytes;
}

// Operand 0 in the layout of result 0, element by element.
Bytes Reordered(TermTable& terms, const OpView& node, int rank,
                const Bytes& operand) {
  const std::vector<int64_t> from = OperandOffsets(node, 0, rank);
  Bytes whole(node.operand_type(0).RowMajor().num_bytes(), kJunk);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != kPadding) whole[from[i]] = operand[i];
  }
  return StoredBytes(terms, node.result_type(0),
                     ResultValueSharding(node.node(), 0), rank, whole);
}

// The results of an op that only moves bytes. Empty if the op computes, or
// makes bytes of its own (the zeros of a pad).
std::optional<std::vector<Bytes>> Moved(const OpView& node,
                                        const std::vector<Bytes>& operands) {
  const std::optional<std::vector<ByteMove>> moves = node.op().moves(node);
  if (!moves.has_value()) return std::nullopt;
  constexpr Term kNobody = -1;
  std::vector<Bytes> results;
  for (int r = 0; r < node.num_results(); ++r) {
    results.emplace_back(node.result_type(r).num_bytes(), kNobody);
  }
  for (const ByteMove& move : *moves) {
    for (int64_t i = 0; i < move.count; ++i) {
      for (int64_t b = 0; b < move.block; ++b) {
        results[move.result][move.result_offset + i * move.result_stride + b] =
            operands[move.operand]
                    [move.operand_offset + i * move.operand_stride + b];
      }
    }
  }
  for (const Bytes& bytes : results) {
    for (Term term : bytes) {
      if (term == kNobody) return std::nullopt;
    }
  }
  return results;
}

// In the first micro-batch the operand is the first sum.
Bytes Summed(TermTable& terms, const OpView& node, int rank,
             const std::vector<Bytes>& operands) {
  const Bytes addend = Reordered(terms, node, rank, operands[0]);
  if (operands.size() == 1) return addend;
  Bytes sum;
  for (size_t b = 0; b < addend.size(); ++b) {
    sum.push_back(terms.Make({kSumTerm, operands[1][b], addend[b]}));
  }
  return sum;
}

// The elements that a rank holds, ascending, and the extents of its shard.
struct Held {
  std::vector<int64_t> elements;
  Shape dims;
};

Held HeldElements(const TensorType& type, const ValueSharding& held, int rank) {
  Held shard{{}, type.dims};
  const int64_t elements = type.num_elements();
  if (held.sharding.kind != Kind::kSplit) {
    for (int64_t e = 0; e < elements; ++e) shard.elements.push_back(e);
    return shard;
  }
  const int dim = held.sharding.dim;
  const int64_t n = type.dims[dim];
  const int64_t units = n / held.sharding.unit;
  const int64_t begin = units * rank / held.ranks;
  const int64_t end = units * (rank + 1) / held.ranks;
  shard.dims[dim] = (end - begin) * held.sharding.unit;
  int64_t inner = 1;
  for (int d = dim + 1; d < type.rank(); ++d) inner *= type.dims[d];
  for (int64_t e = 0; e < elements; ++e) {
    const int64_t unit = e / inner % n / held.sharding.unit;
    if (unit >= begin && unit < end) shard.elements.push_back(e);
  }
  return shard;
}

// The elements in the order of the layout; kPadding between them.
std::vector<int64_t> InLayout(const Held& shard, const Layout& layout) {
  std::vector<int64_t> stored(Product(PhysicalDims(layout, shard.dims)),
                              kPadding);
  Shape index(shard.dims.size(), 0);
  for (int64_t element : shard.elements) {
    stored[PhysicalOffset(layout, shard.dims, index)] = element;
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shard.dims[d]) break;
      index[d] = 0;
    }
  }
  return stored;
}

}  // namespace

ValueSharding OperandValueSharding(const Node& node, int operand) {
  return ValueShardingOf(node, node.placement.operands, operand);
}

ValueSharding ResultValueSharding(const Node& node, int result) {
  return ValueShardingOf(node, node.placement.results, result);
}

std::vector<int64_t> OffsetsInWhole(const TensorType& type,
                                    const ValueSharding& held, int rank) {
  const Held shard = HeldElements(type, held, rank);
  const std::vector<int64_t> stored = type.layout.is_row_major()
                                          ? shard.elements
                                          : InLayout(shard, type.layout);
  const int64_t width = BitsOf(type.dtype) / 8;
  std::vector<int64_t> offsets;
  for (int64_t element : stored) {
    for (int64_t b = 0; b < width; ++b) {
      offsets.push_back(element == kPadding ? kPadding : element * width + b);
    }
  }
  return offsets;
}

Bytes Assemble(const TensorType& type, const ValueSharding& held,
               const std::vector<Bytes>& ranks) {
  Bytes whole(type.RowMajor().num_bytes(), kJunk);
  const int count = held.sharding.kind == Kind::kSplit ? held.ranks : 1;
  for (int m = 0; m < count; ++m) {
    const std::vector<int64_t> offsets = OffsetsInWhole(type, held, m);
    for (size_t i = 0; i < offsets.size() && i < ranks[m].size(); ++i) {
      if (offsets[i] != kPadding) whole[offsets[i]] = ranks[m][i];
    }
  }
  return whole;
}

Bytes StoredBytes(TermTable& terms, const TensorType& type,
                  const ValueSharding& held, int rank, const Bytes& whole) {
  Bytes bytes;
  for (int64_t offset : OffsetsInWhole(type, held, rank)) {
    bytes.push_back(offset == kPadding ? terms.Make({kZeroTerm})
                                       : whole[offset]);
  }
  return bytes;
}

std::vector<Bytes> Compute(TermTable& terms, const OpView& node, int rank,
                           MicroBatchId micro_batch,
                           const std::vector<Bytes>& operands) {
  if (node.is(kAccumulate)) return {Summed(terms, node, rank, operands)};
  if (node.is(kReorder)) return {Reordered(terms, node, rank, operands[0])};
  std::optional<std::vector<Bytes>> moved;
  if (MovesWhole(node)) moved = Moved(node, operands);
  if (moved.has_value()) return *std::move(moved);
  std::vector<Bytes> results;
  for (int r = 0; r < node.num_results(); ++r) {
    results.push_back(Opaque(terms, node, r, rank, micro_batch, operands));
  }
  return results;
}

std::vector<Bytes> RunCollectiveOn(TermTable& terms, const OpView& node,
                                   int value, const TensorType& from,
                                   const TensorType& to,
                                   const std::vector<Bytes>& operands,
                                   int result_ranks) {
  ValueSharding given = OperandValueSharding(node.node(), value);
  given.ranks = static_cast<int>(operands.size());
  Bytes whole;
  if (given.sharding.kind == Kind::kPartial) {
    Bytes reduced;
    for (size_t b = 0; b < operands[0].size(); ++b) {
      std::vector<int64_t> parts = {
          kReducedTerm, static_cast<int64_t>(given.sharding.reduction)};
      for (const Bytes& operand : operands) parts.push_back(operand[b]);
      reduced.push_back(terms.Make(parts));
    }
    whole = Assemble(from, {}, {reduced});
  } else {
    whole = Assemble(from, given, operands);
  }
  const ValueSharding wanted = {
      ResultValueSharding(node.node(), value).sharding, result_ranks};
  std::vector<Bytes> results(result_ranks);
  for (int m = 0; m < result_ranks; ++m) {
    results[m] = StoredBytes(terms, to, wanted, m, whole);
  }
  return results;
}

TensorType MovedType(const OpView& node, int value) {
  const auto is_split = [](const ValueSharding& held) {
    return held.sharding.kind == Kind::kSplit;
  };
  const TensorType& type = node.operand_type(value);
  return is_split(OperandValueSharding(node.node(), value)) ||
                 is_split(ResultValueSharding(node.node(), value))
             ? type.RowMajor()
             : type;
}

}  // namespace partita
