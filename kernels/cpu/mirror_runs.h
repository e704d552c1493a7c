// What a mirrored or edge padding reads, as runs of neighbours.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_MIRROR_RUNS_H_
#define PARTITA_KERNELS_CPU_MIRROR_RUNS_H_

#include <cstdint>
#include <vector>

#include "graph/op_view.h"

namespace partita {

// Result positions to, to + 1, ... read the operand's from, from + step, ...
struct MirrorRun {
  int64_t to, from, size, step;
};

// The runs of one dimension of a `pad` of mode "reflect" or "edge", in order.
// Empty if the dimension has no elements, or if there are too many runs to copy
// one by one: a small operand repeated many times.
std::vector<MirrorRun> MirrorRunsOf(const OpView& pad, int dim);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_MIRROR_RUNS_H_
