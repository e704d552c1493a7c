// Takes memory, launches, and copies where the host cannot access it.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/launch_once.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "graph/round_up.h"
#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"
#include "runtime/device/host_device.h"

namespace partita {
namespace {

// Of arenas, in bytes.
constexpr int64_t kBaseAlignment = 4096;

std::vector<HostTensor> NewResults(const OpView& node) {
  std::vector<HostTensor> results;
  for (int i = 0; i < node.num_results(); ++i) {
    results.emplace_back(node.result_type(i));
  }
  return results;
}

// Attaches the calling thread to a stream.
class Attached {
 public:
  explicit Attached(DeviceStream& stream)
      : stream_(stream), before_(stream.Attach()) {}
  ~Attached() { stream_.Detach(before_); }

 private:
  DeviceStream& stream_;
  const int before_;
};

absl::StatusOr<std::vector<HostTensor>> LaunchOnHost(
    const BindRequest& request, const std::vector<void*>& operands,
    const KernelLibraries& libraries, bool any_host_kernel) {
  if (!any_host_kernel && !RunsHostCode(*request.device)) {
    return absl::FailedPreconditionError(absl::StrCat(
        request.node.ToString(), ": found it on ", request.device->name,
        ", whose kernels the host cannot launch; expected that device, or "
        "kernels of the host that emulate it"));
  }
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceStream> stream,
                           NewCpuDevice(*request.device)->NewStream());
  const Attached attached(*stream);
  PARTITA_ASSIGN_OR_RETURN(BoundKernel kernel,
                           BindKernel(request, libraries, any_host_kernel));
  const int64_t bytes =
      std::max(request.binding->workspace, kernel.outside_scratch);
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<HostArena> workspace,
                           HostArena::New(request.device->name, bytes,
                                          kBaseAlignment, /*guarded=*/false));
  std::vector<HostTensor> results = NewResults(request.node);
  std::vector<void*> pointers;
  for (HostTensor& result : results) pointers.push_back(result.bytes());
  PARTITA_RETURN_IF_ERROR(
      kernel.kernel->Launch({.operands = operands,
                             .results = pointers,
                             .workspace = workspace->base()}));
  return results;
}

// One launch in memory of a device: operands, results, workspace.
class DeviceLaunch {
 public:
  DeviceLaunch(const BindRequest& request, Device& device)
      : request_(request), device_(device) {}

  absl::StatusOr<std::vector<HostTensor>> Run(
      const std::vector<void*>& operands, const KernelLibraries& libraries) {
    PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceStream> stream,
                             device_.NewStream());
    const Attached attached(*stream);
    PARTITA_ASSIGN_OR_RETURN(
        const BoundKernel kernel,
        BindKernel(request_, libraries, /*any_host_kernel=*/false));
    PARTITA_RETURN_IF_ERROR(TakeMemory());
    for (size_t i = 0; i < operands.size(); ++i) {
      PARTITA_RETURN_IF_ERROR(device_.Upload(
          At(operands_[i]), operands[i],
          request_.node.operand_type(static_cast<int>(i)).num_bytes()));
    }
    absl::Status launched = kernel.kernel->Launch({.stream = stream->native(),
                                                   .operands = operands_,
                                                   .results = results_,
                                                   .workspace = workspace_});
    // Work that was issued uses the arena.
    launched.Update(stream->Finish());
    PARTITA_RETURN_IF_ERROR(launched);
    return Results();
  }

 private:
  static std::byte* At(void* address) {
    return static_cast<std::byte*>(address);
  }

  absl::Status TakeMemory() {
    const OpView& node = request_.node;
    std::vector<int64_t> offsets;
    int64_t bytes = 0;
    const auto add = [&](int64_t size) {
      offsets.push_back(bytes);
      bytes += RoundUp(size, kWorkspaceAlignment);
    };
    for (int i = 0; i < node.num_operands(); ++i) {
      add(node.operand_type(i).num_bytes());
    }
    for (int i = 0; i < node.num_results(); ++i) {
      add(node.result_type(i).num_bytes());
    }
    add(request_.binding->workspace);
    PARTITA_ASSIGN_OR_RETURN(arena_, device_.NewArena(bytes, kBaseAlignment));
    auto offset = offsets.begin();
    for (int i = 0; i < node.num_operands(); ++i) {
      operands_.push_back(arena_->base() + *offset++);
    }
    for (int i = 0; i < node.num_results(); ++i) {
      results_.push_back(arena_->base() + *offset++);
    }
    workspace_ = arena_->base() + *offset;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<HostTensor>> Results() const {
    std::vector<HostTensor> results = NewResults(request_.node);
    for (size_t i = 0; i < results.size(); ++i) {
      PARTITA_RETURN_IF_ERROR(device_.Download(
          results[i].bytes(), At(results_[i]), results[i].type().num_bytes()));
    }
    return results;
  }

  const BindRequest& request_;
  Device& device_;
  std::unique_ptr<Arena> arena_;
  std::vector<void*> operands_;
  std::vector<void*> results_;
  void* workspace_ = nullptr;
};

}  // namespace

absl::StatusOr<std::vector<HostTensor>> LaunchOnce(
    const BindRequest& request, const std::vector<void*>& operands,
    const KernelLibraries& libraries, bool any_host_kernel, Device* device) {
  if (device == nullptr || device->properties().host_accesses_arenas) {
    return LaunchOnHost(request, operands, libraries, any_host_kernel);
  }
  return DeviceLaunch(request, *device).Run(operands, libraries);
}

}  // namespace partita
