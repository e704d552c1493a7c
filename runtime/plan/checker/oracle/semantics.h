// What nodes do to symbolic bytes, one member at a time.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_SEMANTICS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_SEMANTICS_H_

#include <vector>

#include "graph/op_view.h"
#include "runtime/plan/checker/oracle/terms.h"

namespace partita {

// How many members hold a value, and how it is divided among them.
struct Division {
  Sharding sharding;
  int members = 1;
};
Division OperandDivision(const Node& node, int operand);
Division ResultDivision(const Node& node, int result);

// For each byte that a member holds, its place in the whole row-major value.
std::vector<int64_t> PlacesInWhole(const TensorType& type,
                                   const Division& division, int member);

// The whole value from what the members hold (not of partial sums).
Bytes Assemble(const TensorType& type, const Division& division,
               const std::vector<Bytes>& members);

// Results of one member of a node that computes, from its operands, in a
// micro-batch. Ops that only move bytes move terms. `accumulate` may have the
// sum so far as a second operand.
std::vector<Bytes> Compute(TermTable& terms, const OpView& node, int member,
                           int micro_batch, const std::vector<Bytes>& operands);

// What each member has of result `value` after the members exchanged
// `operands`, theirs of operand `value`, as the shardings of a copy or
// collective node say.
std::vector<Bytes> Exchange(TermTable& terms, const OpView& node, int value,
                            const std::vector<Bytes>& operands,
                            int result_members);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_SEMANTICS_H_
