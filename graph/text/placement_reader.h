// Reads the placement and kernel binding at the end of a node's line.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_PLACEMENT_READER_H_
#define PARTITA_GRAPH_TEXT_PLACEMENT_READER_H_

#include "graph/placement.h"
#include "graph/text/token_reader.h"

namespace partita {

// After `on`: `gpu:0`, or `{gpu:0, gpu:1} (split 0, replicated) -> (split 0)`.
// Shardings of operands and results are optional.
bool ReadPlacement(TokenReader& reader, Placement& placement);

// After `by`: `onednn.conv {workspace = 64, in_place = [0 -> 0], arithmetic =
// "..."}`.
bool ReadKernel(TokenReader& reader, KernelBinding& kernel);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_PLACEMENT_READER_H_
