// Multiplies by the depth what each step has of its own.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/bytes_in_flight.h"

namespace partita {

int64_t BytesInFlight::Of(ValueId value) const {
  const FlowValue& flow = flow_.values[value];
  const bool is_shared = flow.is_stored || flow.is_update;
  return (is_shared ? 1 : depth_) * costs_.bytes(value);
}

int64_t BytesInFlight::WorkspaceOf(NodeId node, MachineDeviceId device) const {
  return depth_ * costs_.cost(node, device).workspace;
}

}  // namespace partita
