// The spelling of shardings in the textual IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_SHARDING_TEXT_H_
#define PARTITA_GRAPH_SHARDING_TEXT_H_

#include <string>

#include "graph/placement.h"

namespace partita {

// "split 0", "partial sum", "replicated".
std::string ShardingText(const Sharding& sharding);

}  // namespace partita

#endif  // PARTITA_GRAPH_SHARDING_TEXT_H_
