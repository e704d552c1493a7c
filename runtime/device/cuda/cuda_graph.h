// Graphs of the CUDA driver, over all GPUs of the process.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H_

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_graph_stamps.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/device_graph.h"

namespace partita {

// Built node by node, without captures: what is ordered is what was given. A
// copy between GPUs without access to each other's memory goes by way of
// page-locked memory that the graph owns; each other copy is one node for each
// run of bytes.
class CudaGraph : public DeviceGraph {
 public:
  // Launched in streams of `context`, the GPU `device` of messages.
  static absl::StatusOr<std::unique_ptr<CudaGraph>> New(SharedContext context,
                                                        std::string device);
  ~CudaGraph() override;

  absl::StatusOr<DeviceNodeId> AddKernel(DeviceStream& stream,
                                         const LaunchDescription& launch,
                                         Nodes after) override;
  absl::StatusOr<DeviceNodeId> AddCopy(DeviceStream& stream, const Blocks& to,
                                       const Blocks& from,
                                       Nodes after) override;
  absl::StatusOr<DeviceNodeId> AddStamp(DeviceStream& stream, SteadyTime& time,
                                        Nodes after) override;
  int num_nodes() const override { return static_cast<int>(nodes_.size()); }
  int64_t StagingBytes() const override;
  absl::Status Instantiate(DeviceStream& stream) override;
  absl::Status Launch(DeviceStream& stream) override;
  absl::Status ResolveStamps() override;

  // For reading the graph back.
  CUgraph get() const { return graph_.get(); }
  CUgraphNode node(DeviceNodeId id) const { return nodes_[id.index]; }

 private:
  // The contexts of the nodes of a copy, and what both copy from and to.
  struct Route {
    CUcontext first = nullptr;
    CUcontext second = nullptr;    // null: one node
    std::byte* staging = nullptr;  // of the bytes of the copy
  };

  CudaGraph(SharedContext context, std::string device, OwnedGraph graph)
      : context_(std::move(context)),
        device_(std::move(device)),
        graph_(std::move(graph)) {}
  std::vector<CUgraphNode> HandlesOf(Nodes after) const;
  // Keeps the node that `add` makes.
  template <typename Add>
  absl::StatusOr<DeviceNodeId> Keep(const char* call, Nodes after, Add add);
  absl::StatusOr<DeviceNodeId> AddRun(CUcontext context, std::byte* to,
                                      const std::byte* from, int64_t bytes,
                                      Nodes after);
  absl::StatusOr<Route> RouteOf(const CudaContext& copier, const Blocks& to,
                                const Blocks& from);
  absl::StatusOr<CudaGraphStamps*> StampsOf(const SharedContext& context);

  const SharedContext context_;
  const std::string device_;
  OwnedGraph graph_;
  OwnedGraphExec exec_;
  std::vector<CUgraphNode> nodes_;
  std::vector<std::unique_ptr<Arena>> staging_;
  std::vector<CudaGraphStamps> stamps_;  // by GPU
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_H_
