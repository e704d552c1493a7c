// What nodes do to symbolic bytes, one rank at a time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_SEMANTICS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_SEMANTICS_H_

#include <vector>

#include "graph/op_view.h"
#include "runtime/plan/checker/testing/oracle/terms.h"

namespace partita {

// The sharding of a value and its number of ranks.
struct ValueSharding {
  Sharding sharding;
  int ranks = 1;
};
ValueSharding OperandValueSharding(const Node& node, int operand);
ValueSharding ResultValueSharding(const Node& node, int result);

inline constexpr int64_t kPadding = -1;

// The offset in the whole row-major value of each byte that a rank stores, in
// the order of the type's layout; kPadding for the layout's padding.
std::vector<int64_t> OffsetsInWhole(const TensorType& type,
                                    const ValueSharding& held, int rank);

// Assembles the whole row-major value from the bytes that all ranks store (not
// for partial sums).
Bytes Assemble(const TensorType& type, const ValueSharding& held,
               const std::vector<Bytes>& ranks);
// What a rank stores of the whole row-major value. Padding is zero.
Bytes StoredBytes(TermTable& terms, const TensorType& type,
                  const ValueSharding& held, int rank, const Bytes& whole);

// The results of one rank of a computing node in a micro-batch, from its
// operands, each in the layout of its type. Ops that only move bytes move
// terms. `accumulate` may have the sum so far as a second operand.
std::vector<Bytes> Compute(TermTable& terms, const OpView& node, int rank,
                           MicroBatchId micro_batch,
                           const std::vector<Bytes>& operands);

// The bytes of result `value` on each rank of a copy or collective node, in
// the layout of `to`. `operands` are the bytes of operand `value` on each rank,
// in that of `from`.
std::vector<Bytes> RunCollectiveOn(TermTable& terms, const OpView& node,
                                   int value, const TensorType& from,
                                   const TensorType& to,
                                   const std::vector<Bytes>& operands,
                                   int result_ranks);
// The type in whose layout a transport moves operand `value`: it copies bytes
// as they are, and takes shards as blocks of row-major bytes.
TensorType MovedType(const OpView& node, int value);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_SEMANTICS_H_
