// The link of the proof between the optimised graph and the placed one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VERIFY_SPLIT_H_
#define PARTITA_PLACEMENT_PARTITION_VERIFY_SPLIT_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Proves that `placed` computes what `optimised` computes, from structure and
// dimension rules, and that sums may be taken in any order; shares no code with
// partition. That is:
//  1. One for one, copies, reorders, constants and variables aside, the nodes
//  of
//     both graphs have the same op, attributes, bodies and types, in any order.
//  2. Copies, reorders and buckets carry the values of their operands;
//  constants
//     of the same bytes are one value, and so are reads of one variable. Under
//     this, operands, outputs and updates are the same values.
//  3. A node that is cut is cut along one factor whose pieces are independent:
//     each value that has the factor is split there, each other one is whole on
//     every member, and inferring each piece gives the piece of each result. So
//     the pieces make up the values. Or it takes a value of which each member
//     has a summand and gives one on: a reorder, or a sum over micro-batches.
// Both graphs must be over the same literals. Internal, "bug: ...", lists the
// first 20 differences.
absl::Status VerifySplit(const Graph& optimised, const Graph& placed);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VERIFY_SPLIT_H_
