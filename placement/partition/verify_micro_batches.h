// The link of the proof between a graph and that of its micro-batches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VERIFY_MICRO_BATCHES_H_
#define PARTITA_PLACEMENT_PARTITION_VERIFY_MICRO_BATCHES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Proves that the instances of `divided` in `count` micro-batches, put
// together, are `whole`: from structure and dimension rules alone, and without
// the code that divides. That is:
//  1. Node by node in order, sums over micro-batches aside, both graphs have
//     the same op over the same values. A value is whole, or micro-batch m has
//     its m-th part along one dimension, as its type says.
//  2. A node that reads or makes such a value is cut along one factor whose
//     pieces are independent, and has the attributes, bodies and types of every
//     piece. Every other node is as it was, over whole values.
//  3. A node that sums over that factor leaves each micro-batch a part of the
//     sum, which one `accumulate` over all of them reads and nobody else.
//  4. Constants aside, which are the same, or the same part in all of them.
//  5. Updates are whole; outputs are whole or in parts along their first
//     dimension.
// Both graphs must be over the same literals. Internal, "bug: ...", lists the
// first 20 differences.
absl::Status VerifyMicroBatches(const Graph& whole, const Graph& divided,
                                int count);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VERIFY_MICRO_BATCHES_H_
