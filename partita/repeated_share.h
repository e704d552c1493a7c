// Work that several devices each do whole, updates excepted.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_REPEATED_SHARE_H_
#define PARTITA_PARTITA_REPEATED_SHARE_H_

#include "absl/types/span.h"
#include "binding/choose_kernels.h"
#include "graph/graph.h"

namespace partita {

// The share of the kernels' predicted seconds of a placed graph in nodes that
// several devices compute alike. Updates do not count: every replica computes
// those on purpose. `runs`: how often a step runs each node, by node id.
double RepeatedShare(const Graph& graph, absl::Span<const PricedNode> chosen,
                     absl::Span<const int> runs);

}  // namespace partita

#endif  // PARTITA_PARTITA_REPEATED_SHARE_H_
