// Records, and asks the driver whether they are reached.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_event.h"

#include <chrono>
#include <thread>

#include "graph/status_macros.h"

namespace partita {
namespace {

// Shorter than the millisecond that callers may expect (device.h).
constexpr auto kPoll = std::chrono::microseconds(50);

// Asks until the answer is true or an error; false if `policy` ended the wait.
template <typename Ask>
absl::StatusOr<bool> Poll(const WaitPolicy& policy, Ask ask) {
  for (int polls = 0;; ++polls) {
    PARTITA_ASSIGN_OR_RETURN(const bool yes, ask());
    if (yes) return true;
    if (policy.stop != nullptr && policy.stop->load()) return false;
    if (policy.deadline != SteadyTime::max() &&
        std::chrono::steady_clock::now() >= policy.deadline) {
      return false;
    }
    if (polls >= policy.spins) std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaEvent>> CudaEvent::New(
    SharedContext context) {
  OwnedEvent event;
  PARTITA_RETURN_IF_ERROR(context->Within([&] {
    PARTITA_ASSIGN_OR_RETURN(
        event, partita::NewEvent(context->api(), CU_EVENT_DISABLE_TIMING));
    return absl::OkStatus();
  }));
  return std::unique_ptr<CudaEvent>(
      new CudaEvent(std::move(context), std::move(event)));
}

CudaEvent::~CudaEvent() {
  context_->Release([this] { event_ = OwnedEvent(); });
}

absl::Status CudaEvent::Record(CUstream stream, uint64_t step) {
  PARTITA_RETURN_IF_ERROR(context_->Check(
      context_->api().EventRecord(event_.get(), stream), "cuEventRecord"));
  recorded_.store(step + 1, std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<bool> CudaEvent::Block(CUstream stream, uint64_t step,
                                      const WaitPolicy& policy) {
  // After a failure all events count as reached, though none was recorded.
  if (steps().value() > step) return true;
  PARTITA_ASSIGN_OR_RETURN(const bool recorded, Poll(policy, [&] {
                             return absl::StatusOr<bool>(IsRecorded(step));
                           }));
  if (!recorded) return false;
  PARTITA_RETURN_IF_ERROR(
      context_->Check(context_->api().StreamWaitEvent(stream, event_.get(),
                                                      CU_EVENT_WAIT_DEFAULT),
                      "cuStreamWaitEvent"));
  return true;
}

absl::StatusOr<bool> CudaEvent::IsReached(uint64_t step) const {
  if (!IsRecorded(step)) return false;
  const CUresult result = context_->api().EventQuery(event_.get());
  if (result == CUDA_ERROR_NOT_READY) return false;
  PARTITA_RETURN_IF_ERROR(context_->Check(result, "cuEventQuery"));
  return true;
}

absl::StatusOr<bool> CudaEvent::WaitUntilReached(uint64_t step,
                                                 const WaitPolicy& policy) {
  absl::StatusOr<bool> reached;
  const absl::Status entered = context_->Within([&] {
    reached = Poll(policy, [&] { return IsReached(step); });
    return reached.status();
  });
  PARTITA_RETURN_IF_ERROR(entered);
  return reached;
}

}  // namespace partita
