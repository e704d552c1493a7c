// The interface of devices to the executor: arenas, streams and events.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/device_traits.h"
#include "runtime/device/arena_guard.h"
#include "runtime/device/blocks.h"
#include "runtime/device/step_counter.h"

namespace partita {

class DeviceGraph;  // device_graph.h

// The memory of one device that a session owns; freed on destruction.
class Arena {
 public:
  virtual ~Arena() = default;
  virtual std::byte* base() const = 0;
  virtual int64_t size() const = 0;
  // Bytes that have physical memory; at most size(), rounded up to pages.
  virtual int64_t CommittedBytes() const = 0;
  // Bytes that the driver or the system was asked for: size(), and what aligns
  // base(). Of a GPU that is max(0, alignment - 256), and 0 for an arena
  // without bytes; of host memory max(alignment, 2 MiB), which nothing commits.
  // This and StagedBytes are all the rounding between what a plan states and
  // what its session allocates. (A driver then takes whole blocks of its own.)
  virtual int64_t ReservedBytes() const = 0;
  // The guard that detects undeclared accesses, or null.
  virtual ArenaGuard* guard() { return nullptr; }
};

// A point in the program of one stream, reached once in each step, when all
// earlier work of the stream is done.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  // Waits on the host until `step` has reached this point. False if `policy`
  // ended the wait before; the device's error if the point cannot be reached.
  absl::StatusOr<bool> Wait(uint64_t step, const WaitPolicy& policy) {
    if (steps_.value() > step) return true;
    return WaitUntilReached(step, policy);
  }
  // At least t + 1 only if step t has reached this point, or has failed and all
  // its streams have finished. A record of a stream that runs behind the host
  // does not raise it.
  StepCounter& steps() { return steps_; }

 private:
  // Events of devices that run behind the host ask their device, and check the
  // policy at least once a millisecond.
  virtual absl::StatusOr<bool> WaitUntilReached(uint64_t step,
                                                const WaitPolicy& policy) {
    return steps_.Wait(step + 1, policy);
  }

  StepCounter steps_;
};

// Work in order. All calls come from one thread at a time, after Attach. On the
// host a call returns when its work is done. A stream that runs behind the host
// returns when it is issued; Finish waits for the work.
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
  // `event` is of this stream's device.
  virtual absl::Status Record(DeviceEvent& event, uint64_t step) = 0;
  // Later work begins after `step` has reached the event, which may be another
  // device's. A stream that runs behind the host need not wait for that itself:
  // host code that follows may run before. False if `policy` ended the wait
  // before.
  virtual absl::StatusOr<bool> Wait(DeviceEvent& event, uint64_t step,
                                    const WaitPolicy& policy) = 0;
  // Delays the work that follows. This is all that the stream of a device that
  // computes nothing does for a command.
  virtual absl::Status Sleep(std::chrono::nanoseconds duration) = 0;
  // Sets `time` when earlier work is done; it is valid after Finish. For
  // traces.
  virtual void Stamp(SteadyTime& time) = 0;
  // Waits until all issued work is done. No policy ends this wait.
  virtual absl::Status Finish() = 0;
};

// What computes the kernels of a device.
enum class ComputedBy : uint8_t {
  kOwnKernels,   // the plan's kernels, or others within the plan's workspace
  kHostKernels,  // any kernel of the host that computes the node
  kNothing,      // commands take their predicted time and access no memory
};

// What executors must know about a device. One that the host cannot access has
// the defaults.
struct DeviceProperties {
  ComputedBy computed_by = ComputedBy::kOwnKernels;
  // Host threads of a stream that runs kernels, its own included.
  int kernel_threads = 1;
  // Host code may use pointers into its arenas, which are in host memory.
  bool host_accesses_arenas = false;
  // Its kernels may read constants in host memory, where they are stored.
  bool reads_host_memory = false;
  // Its streams return when work is issued, so that one thread feeds all.
  bool runs_behind_host = true;
  // The thread that submits a step may run a stream.
  bool streams_run_on_caller = false;
  // Work of all such devices can be one graph (Device::NewGraph).
  bool launches_graphs = false;
  // Software emulates the hardware of its traits: its times are others.
  bool emulated = false;
};

// Bytes of a device's memory, as its driver reports them.
struct MemoryFigures {
  int64_t total = 0;
  int64_t free = 0;  // not used by any process
  // "one of 4 shares of GPU 0" if the device has no more; empty: it has all.
  std::string share;
};

// The room in staging memory of a value that has so many bytes.
int64_t StagedBytes(int64_t bytes);

// What no device can allocate: InvalidArgument unless `alignment` is a power of
// two up to 2 MiB, ResourceExhausted for sizes beyond any address space.
// `owner` names the device.
absl::Status CheckArenaRequest(const std::string& owner, int64_t bytes,
                               int64_t alignment);

// Thread safety: calls may run in parallel.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceTraits& traits() const = 0;
  virtual const DeviceProperties& properties() const = 0;
  // Of memory that is the device's own; none for arenas in host memory. The
  // driver's error if it does not report them.
  virtual absl::StatusOr<std::optional<MemoryFigures>> Memory() const {
    return std::nullopt;
  }
  // ResourceExhausted, with both figures, if there is not enough memory.
  virtual absl::StatusOr<std::unique_ptr<Arena>> NewArena(
      int64_t bytes, int64_t alignment) = 0;
  // Host memory that streams of this device copy from and to while the host
  // goes on: pinned memory of a GPU. Host code may use pointers into it. Not
  // for devices whose arenas the host accesses: they need none.
  virtual absl::StatusOr<std::unique_ptr<Arena>> NewStaging(int64_t bytes);
  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() = 0;
  virtual absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() = 0;
  // For devices that launch graphs; streams of this one launch it.
  virtual absl::StatusOr<std::unique_ptr<DeviceGraph>> NewGraph();
  // Copies between arena and host memory; done on return. For loading,
  // restoring and reading variables, not for steps.
  virtual absl::Status Upload(std::byte* to, const void* from,
                              int64_t bytes) = 0;
  virtual absl::Status Download(void* to, const std::byte* from,
                                int64_t bytes) = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_DEVICE_H_
