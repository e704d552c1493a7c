// What several devices compute whole, each of them, though it is no update.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_REPEATED_SHARE_H_
#define PARTITA_PARTITA_REPEATED_SHARE_H_

#include "absl/types/span.h"
#include "graph/graph.h"
#include "passes/choose_kernels.h"

namespace partita {

// Of the kernels' predicted seconds on a placed graph, the share in nodes of
// several devices that compute the same on each. Updates are not among them:
// every replica computes those on purpose. `runs` says by node id how often a
// step runs a node.
double RepeatedShare(const Graph& graph, absl::Span<const ChosenKernel> chosen,
                     absl::Span<const int> runs);

}  // namespace partita

#endif  // PARTITA_PARTITA_REPEATED_SHARE_H_
