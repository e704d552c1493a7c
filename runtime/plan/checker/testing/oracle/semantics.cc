// What nodes do to symbolic bytes, element by element.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/oracle/semantics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/core_ops.h"
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

Bytes Opaque(TermTable& terms, const OpView& node, int result, int rank,
             MicroBatchId micro_batch, const std::vector<Bytes>& operands) {
  const ValueSharding held = ResultValueSharding(node.node(), result);
  const int64_t own = held.sharding.kind == Kind::kReplicated ? 0 : rank;
  std::vector<int64_t> reads;
  for (const Bytes& operand : operands) {
    reads.push_back(-static_cast<int64_t>(operand.size()));
    reads.insert(reads.end(), operand.begin(), operand.end());
  }
  const size_t size =
      OffsetsInWhole(node.result_type(result), held, rank).size();
  Bytes bytes;
  for (size_t b = 0; b < size; ++b) {
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
Bytes Summed(TermTable& terms, const std::vector<Bytes>& operands) {
  if (operands.size() == 1) return operands[0];
  Bytes sum;
  for (size_t b = 0; b < operands[0].size(); ++b) {
    sum.push_back(terms.Make({kSumTerm, operands[1][b], operands[0][b]}));
  }
  return sum;
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
  std::vector<int64_t> offsets;
  const int64_t elements = type.num_elements();
  const int64_t width = elements == 0 ? 0 : type.num_bytes() / elements;
  for (int64_t e = 0; e < elements; ++e) {
    if (held.sharding.kind == Kind::kSplit) {
      const int dim = held.sharding.dim;
      int64_t inner = 1;
      for (int d = dim + 1; d < type.rank(); ++d) inner *= type.dims[d];
      const int64_t n = type.dims[dim];
      const int64_t units = n / held.sharding.unit;
      const int64_t index = e / inner % n / held.sharding.unit;
      if (index < units * rank / held.ranks ||
          index >= units * (rank + 1) / held.ranks) {
        continue;
      }
    }
    for (int64_t b = 0; b < width; ++b) offsets.push_back(e * width + b);
  }
  return offsets;
}

Bytes Assemble(const TensorType& type, const ValueSharding& held,
               const std::vector<Bytes>& ranks) {
  Bytes whole(type.num_bytes(), kJunk);
  const int count = held.sharding.kind == Kind::kSplit ? held.ranks : 1;
  for (int m = 0; m < count; ++m) {
    const std::vector<int64_t> offsets = OffsetsInWhole(type, held, m);
    for (size_t i = 0; i < offsets.size(); ++i) whole[offsets[i]] = ranks[m][i];
  }
  return whole;
}

std::vector<Bytes> Compute(TermTable& terms, const OpView& node, int rank,
                           MicroBatchId micro_batch,
                           const std::vector<Bytes>& operands) {
  if (node.is(kAccumulate)) return {Summed(terms, operands)};
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
                                   int value,
                                   const std::vector<Bytes>& operands,
                                   int result_ranks) {
  const TensorType& type = node.operand_type(value);
  ValueSharding from = OperandValueSharding(node.node(), value);
  from.ranks = static_cast<int>(operands.size());
  Bytes whole;
  if (from.sharding.kind == Kind::kPartial) {
    for (size_t b = 0; b < operands[0].size(); ++b) {
      std::vector<int64_t> parts = {
          kReducedTerm, static_cast<int64_t>(from.sharding.reduction)};
      for (const Bytes& operand : operands) parts.push_back(operand[b]);
      whole.push_back(terms.Make(parts));
    }
  } else {
    whole = Assemble(type, from, operands);
  }
  const ValueSharding to = {ResultValueSharding(node.node(), value).sharding,
                            result_ranks};
  std::vector<Bytes> results(result_ranks);
  for (int m = 0; m < result_ranks; ++m) {
    for (int64_t offset : OffsetsInWhole(type, to, m)) {
      results[m].push_back(whole[offset]);
    }
  }
  return results;
}

}  // namespace partita
