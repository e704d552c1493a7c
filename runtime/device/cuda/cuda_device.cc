// Finds the GPU, and makes what a session needs there.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_device.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "runtime/device/cuda/cuda_event.h"
#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/cuda/cuda_share.h"
#include "runtime/device/cuda/cuda_stream.h"

namespace partita {
namespace {

absl::Status OfDevice(const DeviceTraits& traits, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("device ", traits.name, ": ",
                                                  status.message()));
}

// What was made, or its error likewise.
template <typename Made>
absl::StatusOr<Made> OfDevice(const DeviceTraits& traits,
                              absl::StatusOr<Made> made) {
  if (made.ok()) return made;
  return OfDevice(traits, made.status());
}

class CudaDevice : public Device {
 public:
  // `share` is null if the device has all memory of the GPU.
  CudaDevice(DeviceTraits traits, SharedContext context,
             std::unique_ptr<CudaStream> loading,
             std::shared_ptr<CudaShare> share)
      : traits_(std::move(traits)),
        context_(std::move(context)),
        properties_{.launches_graphs = true,
                    .emulated = context_->api().emulated},
        loading_(std::move(loading)),
        share_(std::move(share)) {}

  const DeviceTraits& traits() const override { return traits_; }
  const DeviceProperties& properties() const override { return properties_; }

  absl::StatusOr<std::optional<MemoryFigures>> Memory() const override {
    return OfDevice(
        traits_, share_ == nullptr ? MemoryOf(*context_) : share_->Figures());
  }
  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override {
    if (share_ == nullptr) {
      return NewCudaArena(context_, traits_.name, bytes, alignment);
    }
    return NewArenaOfShare(share_, traits_.name, bytes, alignment);
  }
  absl::StatusOr<std::unique_ptr<Arena>> NewStaging(int64_t bytes) override {
    return NewPinnedArena(context_, traits_.name, bytes);
  }
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override {
    return OfDevice(traits_, CudaStream::New(context_));
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override {
    return OfDevice(traits_, CudaEvent::New(context_));
  }
  absl::StatusOr<std::unique_ptr<DeviceGraph>> NewGraph() override {
    return OfDevice(traits_, CudaGraph::New(context_, traits_.name));
  }

  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    return CopyAndWait("cuMemcpyHtoDAsync", bytes, [&](CUstream stream) {
      return context_->api().MemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to),
                                             from, static_cast<size_t>(bytes),
                                             stream);
    });
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    return CopyAndWait("cuMemcpyDtoHAsync", bytes, [&](CUstream stream) {
      return context_->api().MemcpyDtoHAsync(
          to, reinterpret_cast<CUdeviceptr>(from), static_cast<size_t>(bytes),
          stream);
    });
  }

 private:
  // cuMemcpyHtoD may return before pageable memory has arrived.
  template <typename Copy>
  absl::Status CopyAndWait(const char* call, int64_t bytes, Copy copy) const {
    if (bytes == 0) return absl::OkStatus();
    const auto stream = static_cast<CUstream>(loading_->native());
    const absl::Status status = context_->Within([&] {
      PARTITA_RETURN_IF_ERROR(context_->Check(copy(stream), call));
      return context_->Check(context_->api().StreamSynchronize(stream),
                             "cuStreamSynchronize");
    });
    return OfDevice(traits_, status);
  }

  const DeviceTraits traits_;
  const SharedContext context_;
  const DeviceProperties properties_;
  const std::unique_ptr<CudaStream> loading_;
  const std::shared_ptr<CudaShare> share_;
};

absl::Status Unavailable(const DeviceTraits& traits, absl::string_view why) {
  return OfDevice(traits, absl::UnavailableError(why));
}

// What may hide GPUs: "; CUDA_VISIBLE_DEVICES=1 may hide them".
std::string MayHide(absl::string_view what) {
  const char* const shown = std::getenv("CUDA_VISIBLE_DEVICES");
  if (shown == nullptr) return "";
  return absl::StrCat("; CUDA_VISIBLE_DEVICES=", shown, " may hide ", what);
}

// The driver is started, and shows the GPU.
absl::Status CheckPresent(const DriverApi& api, const DeviceTraits& traits,
                          int ordinal, GpuSplit split) {
  const absl::Status started = CudaStatus(api, api.Init(0), "cuInit");
  if (!started.ok()) {
    return Unavailable(
        traits,
        absl::StrCat("found no usable GPU (", started.message(),
                     "); expected those of nvidia-smi", MayHide("them")));
  }
  int count = 0;
  PARTITA_RETURN_IF_ERROR(OfDevice(
      traits, CudaStatus(api, api.DeviceGetCount(&count), "cuDeviceGetCount")));
  if (ordinal >= 0 && ordinal < count) return absl::OkStatus();
  return Unavailable(
      traits,
      absl::StrCat("found ", count, count == 1 ? " GPU" : " GPUs",
                   "; expected a GPU of number ", ordinal, ", from 0 on",
                   split.splits() ? absl::StrCat(", as each stands for ",
                                                 split.shares, " devices")
                                  : "",
                   MayHide("it")));
}

absl::StatusOr<int> CapabilityOf(const DriverApi& api, CUdevice device) {
  int major = 0;
  int minor = 0;
  PARTITA_RETURN_IF_ERROR(CudaStatus(
      api,
      api.DeviceGetAttribute(
          &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
      "cuDeviceGetAttribute"));
  PARTITA_RETURN_IF_ERROR(CudaStatus(
      api,
      api.DeviceGetAttribute(
          &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
      "cuDeviceGetAttribute"));
  return 10 * major + minor;
}

// Code for one architecture runs on later ones as well.
absl::Status CheckArchitecture(const DriverApi& api, const DeviceTraits& traits,
                               int ordinal) {
  CUdevice device = 0;
  PARTITA_RETURN_IF_ERROR(
      CudaStatus(api, api.DeviceGet(&device, ordinal), "cuDeviceGet"));
  PARTITA_ASSIGN_OR_RETURN(const int found, CapabilityOf(api, device));
  const std::string planned(absl::StripPrefix(traits.isa, "sm_"));
  if (std::atoi(planned.c_str()) <= found) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("found a GPU of sm_", found, "; expected ", traits.isa,
                   " or later, which the plan is for; compile the model for "
                   "this machine (`partita devices`)"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> NewCudaDevice(const DriverApi& api,
                                                      DeviceTraits traits,
                                                      int number,
                                                      GpuSplit split) {
  const int ordinal = split.GpuOf(number);
  PARTITA_RETURN_IF_ERROR(CheckPresent(api, traits, ordinal, split));
  PARTITA_RETURN_IF_ERROR(
      OfDevice(traits, CheckArchitecture(api, traits, ordinal)));
  PARTITA_ASSIGN_OR_RETURN(const SharedContext context,
                           OfDevice(traits, CudaContext::Of(api, ordinal)));
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<CudaStream> loading,
                           OfDevice(traits, CudaStream::New(context)));
  std::shared_ptr<CudaShare> share;
  if (split.splits()) {
    PARTITA_ASSIGN_OR_RETURN(
        share, OfDevice(traits, CudaShare::Of(context, ordinal, split)));
  }
  return std::make_unique<CudaDevice>(std::move(traits), context,
                                      std::move(loading), std::move(share));
}

}  // namespace partita
