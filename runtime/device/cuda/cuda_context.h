// The primary context of one GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H_

#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "third_party/cuda_loader/driver_api.h"
#include "third_party/cuda_loader/driver_handles.h"

namespace partita {

// Retained as long as anything in it exists: arenas, streams and events share
// it. GPUs that can are peers, so that copies between them go straight from one
// to the other; the driver stages all other copies through the host.
//
// Thread safety: all calls may run in parallel.
class CudaContext {
 public:
  // That of the GPU with number `ordinal`, the same one for all that ask while
  // it exists. `api`, whose Init was called, outlives it.
  static absl::StatusOr<std::shared_ptr<CudaContext>> Of(const DriverApi& api,
                                                         int ordinal);
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const DriverApi& api() const { return api_; }
  CUcontext get() const { return primary_.get(); }
  // `call` is the name of the driver's function.
  absl::Status Check(CUresult result, const char* call) const {
    return CudaStatus(api_, result, call);
  }

  // True if work of this context accesses memory of `other`: it is this one, or
  // a peer's.
  bool Accesses(CUcontext other) const;

  // Makes the context the calling thread's current one, and stores the former
  // one. Leave makes that the current one again.
  absl::Status Enter(CUcontext& former) const;
  absl::Status Leave(CUcontext former) const;
  // Runs `work` between Enter and Leave; the first error of the three.
  absl::Status Within(absl::FunctionRef<absl::Status()> work) const;
  // Runs `give_back`, which frees or destroys, likewise. Nothing reports
  // errors: a driver returns an earlier error from any call, and after one that
  // ends the context there is nothing to give back.
  void Release(absl::FunctionRef<void()> give_back) const;

 private:
  CudaContext(const DriverApi& api, CUdevice device, PrimaryContext primary)
      : api_(api), device_(device), primary_(std::move(primary)) {}
  static absl::StatusOr<std::shared_ptr<CudaContext>> Retain(
      const DriverApi& api, int ordinal);
  // Lets this context access the memory of `other`, if the GPUs can.
  absl::Status AccessMemoryOf(const CudaContext& other) const;

  const DriverApi& api_;
  const CUdevice device_;
  const PrimaryContext primary_;
  mutable std::mutex mutex_;  // guards what follows
  mutable absl::flat_hash_set<CUcontext> peers_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H_
