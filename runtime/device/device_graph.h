// Work of devices that is launched as one: nodes, and the order between them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_DEVICE_GRAPH_H_
#define PARTITA_RUNTIME_DEVICE_DEVICE_GRAPH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ids.h"
#include "kernels/kernel.h"
#include "runtime/device/blocks.h"
#include "runtime/device/device.h"

namespace partita {

using DeviceNodeId = Id<struct DeviceNodeTag>;  // in the order of adding

// Nodes are added, then the graph is instantiated, then it is launched any
// number of times. A node begins when all nodes of its `after` are done, which
// were added before it; nothing else orders the nodes of a launch. Addresses
// are those of the time of adding, in every launch.
//
// Nodes may be of all devices of one driver: the stream that a node is added
// with says which, and any stream of the device does.
//
// Thread safety: one call at a time.
class DeviceGraph {
 public:
  using Nodes = absl::Span<const DeviceNodeId>;  // each once

  virtual ~DeviceGraph() = default;
  virtual absl::StatusOr<DeviceNodeId> AddKernel(
      DeviceStream& stream, const LaunchDescription& launch, Nodes after) = 0;
  // Copies equal numbers of bytes, at least one, between arenas and staging
  // memory, by one node or by several, one after the other. Returns the last.
  virtual absl::StatusOr<DeviceNodeId> AddCopy(DeviceStream& stream,
                                               const Blocks& to,
                                               const Blocks& from,
                                               Nodes after) = 0;
  // Takes the time at which the nodes of `after` are done.
  virtual absl::StatusOr<DeviceNodeId> AddStamp(DeviceStream& stream,
                                                SteadyTime& time,
                                                Nodes after) = 0;
  virtual int num_nodes() const = 0;
  // Page-locked memory of the host that it has for its copies.
  virtual int64_t StagingBytes() const = 0;

  // Allocates all that launches need. `stream` is one that Launch may take.
  virtual absl::Status Instantiate(DeviceStream& stream) = 0;
  // Begins after the stream's earlier work, and after the launch before; the
  // stream's later work begins when all nodes are done.
  virtual absl::Status Launch(DeviceStream& stream) = 0;
  // Sets the times of the last launch, which is done.
  virtual absl::Status ResolveStamps() = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_DEVICE_GRAPH_H_
