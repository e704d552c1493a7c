// Finds, retains and enters contexts.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_context.h"

#include <map>
#include <mutex>

#include "graph/status_macros.h"

namespace partita {
namespace {

// The contexts that live, by driver and ordinal.
struct LiveContexts {
  std::mutex mutex;
  std::map<std::pair<const DriverApi*, int>, std::weak_ptr<CudaContext>> all;
};

LiveContexts& TheLiveContexts() {
  static LiveContexts& contexts = *new LiveContexts;
  return contexts;
}

// Gives the thread its context back; if it had none, it has none again. An
// error of another call is returned once: the second call is made then.
absl::Status SetFormer(const DriverApi& api, CUcontext former) {
  const CUresult result = api.CtxSetCurrent(former);
  if (result != CUDA_SUCCESS) api.CtxSetCurrent(former);
  return CudaStatus(api, result, "cuCtxSetCurrent");
}

}  // namespace

absl::StatusOr<std::shared_ptr<CudaContext>> CudaContext::Of(
    const DriverApi& api, int ordinal) {
  LiveContexts& live = TheLiveContexts();
  const std::lock_guard<std::mutex> lock(live.mutex);
  std::weak_ptr<CudaContext>& known = live.all[{&api, ordinal}];
  if (std::shared_ptr<CudaContext> context = known.lock()) return context;
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<CudaContext> context,
                           Retain(api, ordinal));
  for (const auto& [key, weak] : live.all) {
    const std::shared_ptr<CudaContext> other = weak.lock();
    if (key.first != &api || other == nullptr) continue;
    PARTITA_RETURN_IF_ERROR(context->AccessMemoryOf(*other));
    PARTITA_RETURN_IF_ERROR(other->AccessMemoryOf(*context));
  }
  known = context;
  return context;
}

absl::StatusOr<std::shared_ptr<CudaContext>> CudaContext::Retain(
    const DriverApi& api, int ordinal) {
  CUdevice device = 0;
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.DeviceGet(&device, ordinal), "cuDeviceGet"));
  CUcontext former = nullptr;
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.CtxGetCurrent(&former), "cuCtxGetCurrent"));
  absl::StatusOr<PrimaryContext> primary = PrimaryContext::Retain(api, device);
  // It was made the current one.
  absl::Status status = primary.status();
  status.Update(SetFormer(api, former));
  PARTITA_RETURN_IF_ERROR(status);
  return std::shared_ptr<CudaContext>(
      new CudaContext(api, device, *std::move(primary)));
}

absl::Status CudaContext::AccessMemoryOf(const CudaContext& other) const {
  int can = 0;
  PARTITA_RETURN_IF_ERROR(
      Check(api_.DeviceCanAccessPeer(&can, device_, other.device_),
            "cuDeviceCanAccessPeer"));
  if (can == 0) return absl::OkStatus();
  return Within([&] {
    const CUresult result = api_.CtxEnablePeerAccess(other.get(), 0);
    // Somebody else in this process did it; or too many did, and the driver
    // stages copies between these two.
    if (result == CUDA_ERROR_TOO_MANY_PEERS) return absl::OkStatus();
    if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
      PARTITA_RETURN_IF_ERROR(Check(result, "cuCtxEnablePeerAccess"));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    peers_.insert(other.get());
    return absl::OkStatus();
  });
}

bool CudaContext::Accesses(CUcontext other) const {
  if (other == get()) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return peers_.contains(other);
}

absl::Status CudaContext::Enter(CUcontext& former) const {
  PARTITA_RETURN_IF_ERROR(
      Check(api_.CtxGetCurrent(&former), "cuCtxGetCurrent"));
  if (former == get()) return absl::OkStatus();
  return Check(api_.CtxSetCurrent(get()), "cuCtxSetCurrent");
}

absl::Status CudaContext::Leave(CUcontext former) const {
  if (former == get()) return absl::OkStatus();
  return SetFormer(api_, former);
}

absl::Status CudaContext::Within(absl::FunctionRef<absl::Status()> work) const {
  CUcontext former = nullptr;
  PARTITA_RETURN_IF_ERROR(Enter(former));
  absl::Status status = work();
  status.Update(Leave(former));
  return status;
}

void CudaContext::Release(absl::FunctionRef<void()> give_back) const {
  CUcontext former = nullptr;
  // Another call's error is returned once.
  if (!Enter(former).ok()) Enter(former).IgnoreError();
  give_back();
  Leave(former).IgnoreError();
}

}  // namespace partita
