// Issues work to the driver.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_stream.h"

#include <thread>

#include "graph/status_macros.h"
#include "runtime/device/cuda/cuda_event.h"
#include "runtime/device/runs.h"

namespace partita {
namespace {

// The driver has one address space for all GPUs and the host.
CUdeviceptr Address(const std::byte* bytes) {
  return reinterpret_cast<CUdeviceptr>(bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaStream>> CudaStream::New(
    SharedContext context) {
  OwnedStream stream;
  PARTITA_RETURN_IF_ERROR(context->Within([&] {
    PARTITA_ASSIGN_OR_RETURN(
        stream, partita::NewStream(context->api(), CU_STREAM_NON_BLOCKING));
    return absl::OkStatus();
  }));
  return std::unique_ptr<CudaStream>(
      new CudaStream(std::move(context), std::move(stream)));
}

CudaStream::~CudaStream() {
  context_->Release([this] {
    stamps_.Clear();
    stream_ = OwnedStream();
  });
}

int CudaStream::Attach() {
  deferred_.Update(context_->Enter(former_));
  return 0;
}

void CudaStream::Detach(int attached) {
  deferred_.Update(context_->Leave(former_));
}

absl::Status CudaStream::Copy(const Blocks& to, const Blocks& from) {
  absl::Status status = TakeDeferred();
  const DriverApi& api = context_->api();
  ForEachRun(to, from,
             [&](std::byte* to_run, const std::byte* from_run, int64_t bytes) {
               if (!status.ok()) return false;
               status = context_->Check(
                   api.MemcpyAsync(Address(to_run), Address(from_run),
                                   static_cast<size_t>(bytes), stream_.get()),
                   "cuMemcpyAsync");
               return status.ok();
             });
  return status;
}

absl::Status CudaStream::Record(DeviceEvent& event, uint64_t step) {
  PARTITA_RETURN_IF_ERROR(TakeDeferred());
  return static_cast<CudaEvent&>(event).Record(stream_.get(), step);
}

absl::StatusOr<bool> CudaStream::Wait(DeviceEvent& event, uint64_t step,
                                      const WaitPolicy& policy) {
  PARTITA_RETURN_IF_ERROR(TakeDeferred());
  auto* const of_gpu = dynamic_cast<CudaEvent*>(&event);
  if (of_gpu == nullptr) return event.Wait(step, policy);
  return of_gpu->Block(stream_.get(), step, policy);
}

absl::Status CudaStream::Sleep(std::chrono::nanoseconds duration) {
  std::this_thread::sleep_for(duration);
  return TakeDeferred();
}

void CudaStream::Stamp(SteadyTime& time) {
  deferred_.Update(stamps_.Add(*context_, stream_.get(), time));
}

absl::Status CudaStream::Finish() {
  absl::Status status = TakeDeferred();
  status.Update(context_->Check(
      context_->api().StreamSynchronize(stream_.get()), "cuStreamSynchronize"));
  status.Update(stamps_.Resolve(*context_));
  return status;
}

}  // namespace partita
