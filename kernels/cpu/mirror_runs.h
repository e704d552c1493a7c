// What a pad by mirror or edge shows, as runs of neighbours.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_MIRROR_RUNS_H_
#define PARTITA_KERNELS_CPU_MIRROR_RUNS_H_

#include <cstdint>
#include <vector>

#include "graph/op_view.h"

namespace partita {

// Result positions to, to + 1, ... show the operand's from, from + step, ...
struct MirrorRun {
  int64_t to, from, size, step;
};

// The runs of one dimension of a `pad` of mode "reflect" or "edge", in order;
// none if it has no elements, or more runs than are worth a copy each: then a
// small operand is repeated many times over.
std::vector<MirrorRun> MirrorRunsOf(const OpView& pad, int dim);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_MIRROR_RUNS_H_
