// Which nodes need time and memory of their own.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_NODE_ROLES_H_
#define PARTITA_PLACEMENT_COST_NODE_ROLES_H_

#include "graph/op_view.h"

namespace partita {

// A constant or variable: bytes that stay on the devices of its readers.
bool IsStored(const OpView& node);

// Needs no command and no bytes: every result is a view (graph/views.h).
bool IsView(const OpView& node);

// All other nodes need a kernel and a device.
inline bool Computes(const OpView& node) {
  return !IsStored(node) && !IsView(node);
}

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_NODE_ROLES_H_
