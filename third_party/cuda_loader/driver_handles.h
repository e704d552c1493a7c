// Owners of the driver's handles: what a scope made, it gives back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_THIRD_PARTY_CUDA_LOADER_DRIVER_HANDLES_H_
#define PARTITA_THIRD_PARTY_CUDA_LOADER_DRIVER_HANDLES_H_

#include <cuda.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// Owns one handle, and passes it to the call `destroy` of the table when it
// ends. The table must outlive it. A destroying call's own error is dropped:
// after an error that ends a context, all of them fail.
template <typename Handle, auto destroy>
class OwnedHandle {
 public:
  OwnedHandle() = default;
  OwnedHandle(const DriverApi& api, Handle handle)
      : api_(&api), handle_(handle) {}
  OwnedHandle(OwnedHandle&& other) noexcept
      : api_(other.api_), handle_(other.release()) {}
  OwnedHandle& operator=(OwnedHandle&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OwnedHandle() {
    if (handle_ != Handle{}) (api_->*destroy)(handle_);
  }

  Handle get() const { return handle_; }
  Handle release() { return std::exchange(handle_, Handle{}); }

 private:
  const DriverApi* api_ = nullptr;
  Handle handle_{};
};

using OwnedContext = OwnedHandle<CUcontext, &DriverApi::CtxDestroy>;
using OwnedStream = OwnedHandle<CUstream, &DriverApi::StreamDestroy>;
using OwnedEvent = OwnedHandle<CUevent, &DriverApi::EventDestroy>;
using OwnedGraph = OwnedHandle<CUgraph, &DriverApi::GraphDestroy>;
using OwnedGraphExec = OwnedHandle<CUgraphExec, &DriverApi::GraphExecDestroy>;
using GlobalMemory = OwnedHandle<CUdeviceptr, &DriverApi::MemFree>;
using PinnedMemory = OwnedHandle<void*, &DriverApi::MemFreeHost>;

// The device's primary context, retained until this ends.
class PrimaryContext {
 public:
  // Retains the context and makes it the calling thread's current one.
  static absl::StatusOr<PrimaryContext> Retain(const DriverApi& api,
                                               CUdevice device);
  PrimaryContext(PrimaryContext&& other) noexcept
      : api_(std::exchange(other.api_, nullptr)),
        device_(other.device_),
        context_(other.context_) {}
  PrimaryContext& operator=(PrimaryContext&&) = delete;
  ~PrimaryContext();

  CUcontext get() const { return context_; }

 private:
  PrimaryContext(const DriverApi& api, CUdevice device, CUcontext context)
      : api_(&api), device_(device), context_(context) {}

  const DriverApi* api_;
  CUdevice device_;
  CUcontext context_;
};

// A library, and what the driver writes its compiler's errors to. With lazy
// loading it compiles the library for a context when that needs a kernel, and
// cuda.h does not say that it no longer writes then: both end together.
class OwnedLibrary {
 public:
  struct Log {
    std::array<char, 2048> text{};
    std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                           CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {text.data(),
                                   reinterpret_cast<void*>(text.size() - 1)};
  };

  OwnedLibrary() = default;
  OwnedLibrary(const DriverApi& api, CUlibrary library,
               std::unique_ptr<Log> log = nullptr)
      : log_(std::move(log)), library_(api, library) {}

  CUlibrary get() const { return library_.get(); }
  CUlibrary release() { return library_.release(); }

 private:
  std::unique_ptr<Log> log_;  // first, so that it ends last
  OwnedHandle<CUlibrary, &DriverApi::LibraryUnload> library_;
};

// In the calling thread's current context.
absl::StatusOr<OwnedStream> NewStream(const DriverApi& api, unsigned flags,
                                      int priority = 0);
absl::StatusOr<OwnedEvent> NewEvent(const DriverApi& api, unsigned flags);
absl::StatusOr<GlobalMemory> NewDeviceMemory(const DriverApi& api,
                                             size_t bytes);
// Page-locked, visible to every context.
absl::StatusOr<PinnedMemory> NewPinnedMemory(const DriverApi& api,
                                             size_t bytes);
absl::StatusOr<OwnedGraph> NewGraph(const DriverApi& api);
absl::StatusOr<OwnedGraphExec> Instantiate(const DriverApi& api, CUgraph graph);
// `image` is PTX text that ends in a zero byte, or a cubin. In the error, what
// the driver's compiler says about the text; InvalidArgument if the error is of
// the text.
absl::StatusOr<OwnedLibrary> LoadLibrary(const DriverApi& api,
                                         const void* image);

}  // namespace partita

#endif  // PARTITA_THIRD_PARTY_CUDA_LOADER_DRIVER_HANDLES_H_
