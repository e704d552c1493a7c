// What nodes do to symbolic bytes, element by element.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/oracle/semantics.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_def.h"

namespace partita {
namespace {

using Kind = Sharding::Kind;

Division DivisionOf(const Node& node, const std::vector<Sharding>& all,
                    int index) {
  Division division;
  division.members =
      std::max<int>(1, static_cast<int>(node.placement.devices.size()));
  if (division.members > 1 && !all.empty()) division.sharding = all[index];
  return division;
}

bool MovesWhole(const OpView& node) {
  if (node.op().moves == nullptr) return false;
  for (int i = 0; i < node.num_operands(); ++i) {
    if (OperandDivision(node.node(), i).sharding.kind != Kind::kReplicated ||
        !node.operand_type(i).layout.is_row_major()) {
      return false;
    }
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (ResultDivision(node.node(), i).sharding.kind != Kind::kReplicated ||
        !node.result_type(i).layout.is_row_major()) {
      return false;
    }
  }
  return true;
}

Bytes Opaque(TermTable& terms, const OpView& node, int result, int member,
             int micro_batch, const std::vector<Bytes>& operands) {
  const Division division = ResultDivision(node.node(), result);
  const int64_t own = division.sharding.kind == Kind::kReplicated ? 0 : member;
  std::vector<int64_t> reads;
  for (const Bytes& operand : operands) {
    reads.push_back(-static_cast<int64_t>(operand.size()));
    reads.insert(reads.end(), operand.begin(), operand.end());
  }
  const size_t size =
      PlacesInWhole(node.result_type(result), division, member).size();
  Bytes bytes;
  for (size_t b = 0; b < size; ++b) {
    std::vector<int64_t> parts = {kComputedTerm,
                                  node.id().index,
                                  result,
                                  own,
                                  ChangesWithMicroBatch(node) ? micro_batch : 0,
                                  static_cast<int64_t>(b)};
    parts.insert(parts.end(), reads.begin(), reads.end());
    bytes.push_back(terms.Make(parts));
  }
  return bytes;
}

// Results that are the operands' bytes in other places; nothing if the op does
// more, or makes bytes of its own (the zeros of a pad).
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

// The first micro-batch's operand is the first sum.
Bytes Summed(TermTable& terms, const std::vector<Bytes>& operands) {
  if (operands.size() == 1) return operands[0];
  Bytes sum;
  for (size_t b = 0; b < operands[0].size(); ++b) {
    sum.push_back(terms.Make({kSumTerm, operands[1][b], operands[0][b]}));
  }
  return sum;
}

}  // namespace

Division OperandDivision(const Node& node, int operand) {
  return DivisionOf(node, node.placement.operands, operand);
}

Division ResultDivision(const Node& node, int result) {
  return DivisionOf(node, node.placement.results, result);
}

std::vector<int64_t> PlacesInWhole(const TensorType& type,
                                   const Division& division, int member) {
  std::vector<int64_t> places;
  const int64_t elements = type.num_elements();
  const int64_t width = elements == 0 ? 0 : type.num_bytes() / elements;
  for (int64_t e = 0; e < elements; ++e) {
    if (division.sharding.kind == Kind::kSplit) {
      const int dim = division.sharding.dim;
      int64_t inner = 1;
      for (int d = dim + 1; d < type.rank(); ++d) inner *= type.dims[d];
      const int64_t n = type.dims[dim];
      const int64_t units = n / division.sharding.unit;
      const int64_t index = e / inner % n / division.sharding.unit;
      if (index < units * member / division.members ||
          index >= units * (member + 1) / division.members) {
        continue;
      }
    }
    for (int64_t b = 0; b < width; ++b) places.push_back(e * width + b);
  }
  return places;
}

Bytes Assemble(const TensorType& type, const Division& division,
               const std::vector<Bytes>& members) {
  Bytes whole(type.num_bytes(), kJunk);
  const int count =
      division.sharding.kind == Kind::kSplit ? division.members : 1;
  for (int m = 0; m < count; ++m) {
    const std::vector<int64_t> places = PlacesInWhole(type, division, m);
    for (size_t i = 0; i < places.size(); ++i) whole[places[i]] = members[m][i];
  }
  return whole;
}

std::vector<Bytes> Compute(TermTable& terms, const OpView& node, int member,
                           int micro_batch,
                           const std::vector<Bytes>& operands) {
  if (node.is(kAccumulate)) return {Summed(terms, operands)};
  std::optional<std::vector<Bytes>> moved;
  if (MovesWhole(node)) moved = Moved(node, operands);
  if (moved.has_value()) return *std::move(moved);
  std::vector<Bytes> results;
  for (int r = 0; r < node.num_results(); ++r) {
    results.push_back(Opaque(terms, node, r, member, micro_batch, operands));
  }
  return results;
}

std::vector<Bytes> Exchange(TermTable& terms, const OpView& node, int value,
                            const std::vector<Bytes>& operands,
                            int result_members) {
  const TensorType& type = node.operand_type(value);
  Division from = OperandDivision(node.node(), value);
  from.members = static_cast<int>(operands.size());
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
  const Division to = {ResultDivision(node.node(), value).sharding,
                       result_members};
  std::vector<Bytes> results(result_members);
  for (int m = 0; m < result_members; ++m) {
    for (int64_t place : PlacesInWhole(type, to, m)) {
      results[m].push_back(whole[place]);
    }
  }
  return results;
}

}  // namespace partita
