// The interface of devices to the executor: arenas, streams and events.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/device_traits.h"
#include "runtime/device/arena_guard.h"
#include "runtime/device/blocks.h"
#include "runtime/device/step_counter.h"

namespace partita {

// The memory of one device that a session owns; freed on destruction.
class Arena {
 public:
  virtual ~Arena() = default;
  virtual std::byte* base() const = 0;
  virtual int64_t size() const = 0;
  // Bytes that have physical memory; at most size(), rounded up to pages.
  virtual int64_t CommittedBytes() const = 0;
  // The guard that detects undeclared accesses, or null.
  virtual ArenaGuard* guard() { return nullptr; }
};

// A point in the program of one stream, reached once in each step.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // Raised to t + 1 when step t has been recorded (on an asynchronous device:
  // when the record has been issued).
  StepCounter& steps() { return steps_; }

 private:
  StepCounter steps_;
};

// Work in order. All calls come from one thread at a time, after Attach. On the
// host a call returns when its work is done. On an asynchronous device it may
// return earlier; Finish waits for the work.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  // LaunchArgs::stream; null on the host.
  virtual void* native() const { return nullptr; }
  // Prepares the calling thread to bind and launch kernels here (OpenMP
  // threads, driver context). Detach takes the result of Attach and undoes it.
  virtual int Attach() = 0;
  virtual void Detach(int attached) = 0;
  // Copies equal numbers of bytes, within one device or between two.
  virtual absl::Status Copy(const Blocks& to, const Blocks& from) = 0;
  virtual absl::Status Record(DeviceEvent& event, uint64_t step) = 0;
  // False if `policy` ended the wait before the event of `step` was recorded.
  virtual bool Wait(DeviceEvent& event, uint64_t step,
                    const WaitPolicy& policy) = 0;
  virtual absl::Status Finish() = 0;
};

// Thread safety: calls may run in parallel.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceTraits& traits() const = 0;
  // True if host code may use pointers into its arenas; then constants may be
  // read from host memory where they are stored.
  virtual bool is_host() const = 0;
  // True if the host emulates the device, which this machine may not have: host
  // kernels may compute for it.
  virtual bool is_virtual() const = 0;
  // True if the device only sleeps for the predicted time of each command.
  virtual bool is_timed() const = 0;
  // ResourceExhausted, with both figures, if there is not enough memory.
  virtual absl::StatusOr<std::unique_ptr<Arena>> NewArena(
      int64_t bytes, int64_t alignment) = 0;
  virtual std::unique_ptr<DeviceStream> NewStream() = 0;
  virtual std::unique_ptr<DeviceEvent> NewEvent() = 0;
  // Copies between arena and host memory; done on return. For loading,
  // restoring and reading variables, not for steps.
  virtual absl::Status Upload(std::byte* to, const void* from,
                              int64_t bytes) = 0;
  virtual absl::Status Download(void* to, const std::byte* from,
                                int64_t bytes) = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_DEVICE_H_
