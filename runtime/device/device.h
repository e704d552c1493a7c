// What an executor asks of a device: arenas, streams and events.
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

// The memory of one device that a session owns; given back on destruction.
class Arena {
 public:
  virtual ~Arena() = default;
  virtual std::byte* base() const = 0;
  virtual int64_t size() const = 0;
  // Bytes that physical memory stands behind; at most size(), rounded up to
  // pages.
  virtual int64_t CommittedBytes() const = 0;
  // What watches undeclared accesses, if anything does.
  virtual ArenaGuard* guard() { return nullptr; }
};

// A point in the program of one stream, passed once a step.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // Raised to t + 1 when step t has been recorded (on a device that runs
  // behind its host: when the record has been issued).
  StepCounter& steps() { return steps_; }

 private:
  StepCounter steps_;
};

// Work in order. All calls come from one thread at a time, which has called
// Attach first. On the host a call returns when its work is done; on a device
// that runs behind its host it may return earlier, and Finish catches up.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  // LaunchArgs::stream; null on the host.
  virtual void* native() const { return nullptr; }
  // Makes the calling thread fit to bind and launch kernels here (OpenMP team,
  // driver context). Detach takes what Attach returned and undoes it.
  virtual int Attach() = 0;
  virtual void Detach(int attached) = 0;
  // Copies equal numbers of bytes, on one device or between two.
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
  // Pointers into its arenas may be used by host code, and constants may be
  // read where they lie in host memory.
  virtual bool is_host() const = 0;
  // Stands in for a device that this machine may not have: kernels of the host
  // may compute in its place.
  virtual bool is_virtual() const = 0;
  // Sleeps for the predicted time of each command and computes nothing.
  virtual bool is_timed() const = 0;
  // ResourceExhausted, with both figures, if it cannot be had.
  virtual absl::StatusOr<std::unique_ptr<Arena>> NewArena(
      int64_t bytes, int64_t alignment) = 0;
  virtual std::unique_ptr<DeviceStream> NewStream() = 0;
  virtual std::unique_ptr<DeviceEvent> NewEvent() = 0;
  // Between arena and host memory, done on return. Not for steps: for loading,
  // restoring and reading variables.
  virtual absl::Status Upload(std::byte* to, const void* from,
                              int64_t bytes) = 0;
  virtual absl::Status Download(void* to, const std::byte* from,
                                int64_t bytes) = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_DEVICE_H_
