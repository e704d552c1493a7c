// The reduced dimensions of an op with the attribute `axes`.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_REDUCED_AXES_H_
#define PARTITA_GRAPH_OPS_REDUCED_AXES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/strided.h"

namespace partita {

// By dimension of the operand: true if it is reduced. Empty if the attribute
// has a repeated or unknown dimension.
std::vector<bool> ReducedDims(const OpView& op);

// Refuses such an attribute.
absl::Status CheckReducedAxes(const OpView& op);

// Strides of the result along the operand's dimensions: 0 where reduced.
Shape ResultStrides(const OpView& op);

// How many elements make one result.
double ReducedCount(const OpView& op);

// An operation for each element, which is read once.
Cost ReductionCost(const OpView& op);

// totals[position of the result] = step(totals[...], element) for every
// element, in row-major order.
template <typename W, typename T, typename Step>
void FoldReduced(const OpView& op, const T* x, std::vector<W>& totals,
                 Step step) {
  ForEachOffset<1>(op.operand_type(0).dims, {ResultStrides(op)},
                   [&](const std::array<int64_t, 1>& at) {
                     W& total = totals[at[0]];
                     total = step(total, static_cast<W>(*x++));
                   });
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_REDUCED_AXES_H_
