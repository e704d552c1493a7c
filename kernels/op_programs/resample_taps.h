// Where resize reads, computed by each thread (graph/ops/resample.h).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_RESAMPLE_TAPS_H_
#define PARTITA_KERNELS_OP_PROGRAMS_RESAMPLE_TAPS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "graph/ops/resample.h"
#include "kernels/op_programs/index_node.h"

namespace partita {

// Unimplemented, naming the cause, for attributes without a program.
absl::Status CheckResampling(const IndexNode& node,
                             absl::Span<const AxisMap> maps);

// The element that position i of the result is in mode "nearest".
Register NearestInside(const OpView& op, const AxisMap& map, Register i);

// An element and its weight, in f32, or in f64 for elements of f64.
struct ResampleTap {
  Register index;
  Register weight;
};
// Those that position i of the result blends in the other modes.
std::vector<ResampleTap> BlendedTaps(const OpView& op, const AxisMap& map,
                                     Register i);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_RESAMPLE_TAPS_H_
