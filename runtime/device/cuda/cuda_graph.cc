// Adds nodes, and launches what they make up.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_graph.h"

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/device/cuda/cuda_stream.h"
#include "runtime/device/runs.h"

namespace partita {
namespace {

CUdeviceptr Address(const std::byte* bytes) {
  return reinterpret_cast<CUdeviceptr>(bytes);
}

const CudaStream& OfGpu(const DeviceStream& stream) {
  return static_cast<const CudaStream&>(stream);
}

// The context of the memory at an address; null for memory of the host.
absl::StatusOr<CUcontext> ContextOf(const CudaContext& context,
                                    const std::byte* bytes) {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  PARTITA_RETURN_IF_ERROR(context.Check(
      context.api().PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        Address(bytes)),
      "cuPointerGetAttribute"));
  CUcontext owner = nullptr;
  if (type == CU_MEMORYTYPE_HOST) return owner;
  PARTITA_RETURN_IF_ERROR(
      context.Check(context.api().PointerGetAttribute(
                        &owner, CU_POINTER_ATTRIBUTE_CONTEXT, Address(bytes)),
                    "cuPointerGetAttribute"));
  return owner;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaGraph>> CudaGraph::New(SharedContext context,
                                                          std::string device) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(context->api()));
  return std::unique_ptr<CudaGraph>(
      new CudaGraph(std::move(context), std::move(device), std::move(graph)));
}

CudaGraph::~CudaGraph() {
  context_->Release([this] {
    // After an error, its work on any GPU may still be going on.
    context_->Check(context_->api().CtxSynchronize(), "cuCtxSynchronize")
        .IgnoreError();
    exec_ = OwnedGraphExec();
    graph_ = OwnedGraph();
  });
}

std::vector<CUgraphNode> CudaGraph::HandlesOf(Nodes after) const {
  std::vector<CUgraphNode> handles;
  for (const DeviceNodeId id : after) handles.push_back(node(id));
  return handles;
}

template <typename Add>
absl::StatusOr<DeviceNodeId> CudaGraph::Keep(const char* call, Nodes after,
                                             Add add) {
  const std::vector<CUgraphNode> handles = HandlesOf(after);
  CUgraphNode node = nullptr;
  PARTITA_RETURN_IF_ERROR(context_->Check(add(&node, handles), call));
  nodes_.push_back(node);
  return DeviceNodeId(static_cast<int32_t>(nodes_.size() - 1));
}

absl::StatusOr<DeviceNodeId> CudaGraph::AddKernel(
    DeviceStream& stream, const LaunchDescription& launch, Nodes after) {
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = static_cast<CUfunction>(launch.function);
  params.gridDimX = launch.blocks;
  params.blockDimX = launch.threads;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = launch.parameters.data();
  params.ctx = OfGpu(stream).context()->get();
  return Keep("cuGraphAddKernelNode", after, [&](auto* node, auto& handles) {
    return context_->api().GraphAddKernelNode(
        node, graph_.get(), handles.data(), handles.size(), &params);
  });
}

// The driver has one address space for all GPUs and the host.
absl::StatusOr<DeviceNodeId> CudaGraph::AddRun(CUcontext context, std::byte* to,
                                               const std::byte* from,
                                               int64_t bytes, Nodes after) {
  CUDA_MEMCPY3D params = {};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  params.srcDevice = Address(from);
  params.dstDevice = Address(to);
  params.WidthInBytes = static_cast<size_t>(bytes);
  params.Height = params.Depth = 1;
  return Keep("cuGraphAddMemcpyNode", after, [&](auto* node, auto& handles) {
    return context_->api().GraphAddMemcpyNode(
        node, graph_.get(), handles.data(), handles.size(), &params, context);
  });
}

// cuda.h says of calls in streams that they stage what they must, and nothing
// of the kind of nodes.
absl::StatusOr<CudaGraph::Route> CudaGraph::RouteOf(const CudaContext& copier,
                                                    const Blocks& to,
                                                    const Blocks& from) {
  PARTITA_ASSIGN_OR_RETURN(const CUcontext target, ContextOf(copier, to.base));
  PARTITA_ASSIGN_OR_RETURN(const CUcontext source,
                           ContextOf(copier, from.base));
  const auto reaches = [&](CUcontext owner) {
    return owner == nullptr || copier.Accesses(owner);
  };
  if (reaches(target) && reaches(source)) return Route{copier.get()};
  if (target == nullptr) return Route{source};
  if (source == nullptr) return Route{target};
  PARTITA_ASSIGN_OR_RETURN(staging_.emplace_back(),
                           NewPinnedArena(context_, device_, from.size()));
  return Route{source, target, staging_.back()->base()};
}

absl::StatusOr<DeviceNodeId> CudaGraph::AddCopy(DeviceStream& stream,
                                                const Blocks& to,
                                                const Blocks& from,
                                                Nodes after) {
  PARTITA_ASSIGN_OR_RETURN(const Route route,
                           RouteOf(*OfGpu(stream).context(), to, from));
  DeviceNodeId last;
  const auto add = [&](CUcontext context, const Blocks& target,
                       const Blocks& source) {
    absl::Status status;
    ForEachRun(
        target, source,
        [&](std::byte* to_run, const std::byte* from_run, int64_t bytes) {
          const absl::StatusOr<DeviceNodeId> node =
              AddRun(context, to_run, from_run, bytes,
                     last.valid() ? Nodes(&last, 1) : after);
          status = node.status();
          if (status.ok()) last = *node;
          return status.ok();
        });
    return status;
  };
  if (route.second == nullptr) {
    PARTITA_RETURN_IF_ERROR(add(route.first, to, from));
    return last;
  }
  const Blocks staged = {route.staging, from.size()};
  PARTITA_RETURN_IF_ERROR(add(route.first, staged, from));
  PARTITA_RETURN_IF_ERROR(add(route.second, to, staged));
  return last;
}

int64_t CudaGraph::StagingBytes() const {
  int64_t bytes = 0;
  for (const auto& staging : staging_) bytes += staging->ReservedBytes();
  return bytes;
}

absl::StatusOr<CudaGraphStamps*> CudaGraph::StampsOf(
    const SharedContext& context) {
  for (CudaGraphStamps& stamps : stamps_) {
    if (stamps.context() == context->get()) return &stamps;
  }
  PARTITA_ASSIGN_OR_RETURN(CudaGraphStamps stamps,
                           CudaGraphStamps::New(context));
  stamps_.push_back(std::move(stamps));
  return &stamps_.back();
}

absl::StatusOr<DeviceNodeId> CudaGraph::AddStamp(DeviceStream& stream,
                                                 SteadyTime& time,
                                                 Nodes after) {
  PARTITA_ASSIGN_OR_RETURN(CudaGraphStamps* const stamps,
                           StampsOf(OfGpu(stream).context()));
  PARTITA_ASSIGN_OR_RETURN(const CUevent event, stamps->Add(time));
  return Keep("cuGraphAddEventRecordNode", after,
              [&](auto* node, auto& handles) {
                return context_->api().GraphAddEventRecordNode(
                    node, graph_.get(), handles.data(), handles.size(), event);
              });
}

// The upload does what the first launch would do otherwise.
absl::Status CudaGraph::Instantiate(DeviceStream& stream) {
  const DriverApi& api = context_->api();
  const auto native = static_cast<CUstream>(stream.native());
  const absl::Status status = context_->Within([&] {
    PARTITA_ASSIGN_OR_RETURN(exec_, partita::Instantiate(api, graph_.get()));
    PARTITA_RETURN_IF_ERROR(
        context_->Check(api.GraphUpload(exec_.get(), native), "cuGraphUpload"));
    return context_->Check(api.StreamSynchronize(native),
                           "cuStreamSynchronize");
  });
  if (status.ok()) return status;
  const std::string remedy =
      absl::IsResourceExhausted(status)
          ? "; expected more that is free beside the arena: compile for a "
            "machine with a larger `reserve`"
          : "";
  return absl::Status(
      status.code(),
      absl::StrCat("device ", device_, ": found no graph of ", num_nodes(),
                   " nodes (", status.message(), ")", remedy));
}

absl::Status CudaGraph::Launch(DeviceStream& stream) {
  for (CudaGraphStamps& stamps : stamps_) {
    PARTITA_RETURN_IF_ERROR(stamps.Anchor());
  }
  return context_->Check(
      context_->api().GraphLaunch(exec_.get(),
                                  static_cast<CUstream>(stream.native())),
      "cuGraphLaunch");
}

absl::Status CudaGraph::ResolveStamps() {
  for (const CudaGraphStamps& stamps : stamps_) {
    PARTITA_RETURN_IF_ERROR(stamps.Resolve());
  }
  return absl::OkStatus();
}

}  // namespace partita
