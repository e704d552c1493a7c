// A reduction as loops over memory, in a layout.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_REDUCE_LOOPS_H_
#define PARTITA_KERNELS_CPU_REDUCE_LOOPS_H_

#include <cstdint>
#include <vector>

#include "graph/op_view.h"

namespace partita {

// Dimensions in memory order. Neighbours of one kind are merged if they are one
// dimension on both sides.
struct ReduceLoops {
  struct Dim {
    int64_t size;
    int64_t stride;     // in the operand, in elements
    int64_t to_stride;  // in the result; 0 if reduced
  };
  std::vector<Dim> kept;
  std::vector<Dim> reduced;  // one of size 1 if there is none
  // The innermost kept dimension, not in `kept`, if its elements are adjacent
  // or separated only by short lines of reduced elements.
  Dim columns = {1, 1, 1};
  // Columns that only fill the last block, at the last step of `kept`.
  int64_t padding = 0;
  int64_t groups = 1;  // product of `kept`
  int64_t count = 1;   // product of `reduced`
  int64_t results = 1;
};

// For operand 0 in this layout, which may have padding only if channels are
// kept and everything after them is reduced. The result is row-major.
ReduceLoops ReduceLoopsOf(const OpView& node, const Layout& layout);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_REDUCE_LOOPS_H_
