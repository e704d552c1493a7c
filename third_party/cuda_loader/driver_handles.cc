// Calls that make the driver's handles, each with its owner.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_loader/driver_handles.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// `make` stores a handle at the address that it gets.
template <typename Owner, typename Handle, typename Make>
absl::StatusOr<Owner> Own(const DriverApi& api, const char* call, Make make) {
  Handle handle{};
  if (absl::Status status = CudaStatus(api, make(&handle), call);
      !status.ok()) {
    return status;
  }
  return Owner(api, handle);
}

}  // namespace

absl::StatusOr<PrimaryContext> PrimaryContext::Retain(const DriverApi& api,
                                                      CUdevice device) {
  CUcontext context = nullptr;
  absl::Status status =
      CudaStatus(api, api.DevicePrimaryCtxRetain(&context, device),
                 "cuDevicePrimaryCtxRetain");
  if (!status.ok()) return status;
  PrimaryContext primary(api, device, context);
  status = CudaStatus(api, api.CtxSetCurrent(context), "cuCtxSetCurrent");
  if (!status.ok()) return status;
  return primary;
}

PrimaryContext::~PrimaryContext() {
  if (api_ != nullptr) api_->DevicePrimaryCtxRelease(device_);
}

absl::StatusOr<OwnedStream> NewStream(const DriverApi& api, unsigned flags,
                                      int priority) {
  return Own<OwnedStream, CUstream>(
      api, "cuStreamCreateWithPriority", [&](CUstream* stream) {
        return api.StreamCreateWithPriority(stream, flags, priority);
      });
}

absl::StatusOr<OwnedEvent> NewEvent(const DriverApi& api, unsigned flags) {
  return Own<OwnedEvent, CUevent>(api, "cuEventCreate", [&](CUevent* event) {
    return api.EventCreate(event, flags);
  });
}

absl::StatusOr<GlobalMemory> NewDeviceMemory(const DriverApi& api,
                                             size_t bytes) {
  return Own<GlobalMemory, CUdeviceptr>(
      api, "cuMemAlloc",
      [&](CUdeviceptr* memory) { return api.MemAlloc(memory, bytes); });
}

absl::StatusOr<PinnedMemory> NewPinnedMemory(const DriverApi& api,
                                             size_t bytes) {
  return Own<PinnedMemory, void*>(api, "cuMemHostAlloc", [&](void** memory) {
    return api.MemHostAlloc(memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
  });
}

absl::StatusOr<OwnedGraph> NewGraph(const DriverApi& api) {
  return Own<OwnedGraph, CUgraph>(api, "cuGraphCreate", [&](CUgraph* graph) {
    return api.GraphCreate(graph, 0);
  });
}

absl::StatusOr<OwnedGraphExec> Instantiate(const DriverApi& api,
                                           CUgraph graph) {
  return Own<OwnedGraphExec, CUgraphExec>(
      api, "cuGraphInstantiate",
      [&](CUgraphExec* exec) { return api.GraphInstantiate(exec, graph, 0); });
}

absl::StatusOr<OwnedLibrary> LoadLibrary(const DriverApi& api,
                                         const void* image) {
  auto log = std::make_unique<OwnedLibrary::Log>();
  CUlibrary library = nullptr;
  const CUresult result = api.LibraryLoadData(
      &library, image, log->options.data(), log->values.data(),
      log->options.size(), nullptr, nullptr, 0);
  const absl::Status status = CudaStatus(api, result, "cuLibraryLoadData");
  const std::string text = log->text.data();
  OwnedLibrary owner(api, status.ok() ? library : nullptr, std::move(log));
  // With lazy loading the call succeeds though the text does not compile: the
  // log has what cuLibraryGetKernel would give a code for (code.refused).
  if (status.ok() && text.empty()) return owner;
  return absl::Status(
      status.ok() ? absl::StatusCode::kInvalidArgument : status.code(),
      absl::StrCat(status.ok() ? "cuLibraryLoadData" : status.message(), "; ",
                   text));
}

}  // namespace partita
