// A node's placement in reports.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLACEMENT_TEXT_H_
#define PARTITA_PARTITA_PLACEMENT_TEXT_H_

#include <string>

#include "graph/placement.h"

namespace partita {

// "gpu:0"; on several devices with the sharding of the results:
// "gpu:0,gpu:1 (split 0)", "gpu:0,gpu:1 (replicated)".
std::string PlacementText(const Placement& placement);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLACEMENT_TEXT_H_
