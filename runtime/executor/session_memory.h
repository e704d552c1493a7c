// The arenas of a session, and the address of each buffer.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_SESSION_MEMORY_H_
#define PARTITA_RUNTIME_EXECUTOR_SESSION_MEMORY_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita {

using Devices = std::vector<std::unique_ptr<Device>>;  // by DeviceId

// Thread safety: Locate may be called in parallel; loading may not.
class SessionMemory {
 public:
  // Allocates the arenas and loads constants and variables. If
  // `constants_in_place`, devices that read host memory read aligned constants
  // where they are stored, in memory or in a mapped file. ResourceExhausted,
  // with both figures, if the host, or a device with memory of its own, has too
  // little free for what the plan accesses.
  static absl::StatusOr<std::unique_ptr<SessionMemory>> New(
      const Plan& plan, const Devices& devices, bool constants_in_place);

  // The bytes of a buffer in step `step`.
  Blocks Locate(const Entry& entry, BufferId buffer, int64_t step) const;
  ArenaGuard* guard(DeviceId device) const {
    return arenas_[device.index]->guard();
  }

  // Sets variables to their initial values.
  absl::Status RestoreVariables();
  // Reads the persistent value of a variable's node on `entry`.
  absl::Status ReadPersistent(const Entry& entry, const PersistentValue& value,
                              void* bytes) const;
  absl::Status WritePersistent(const Entry& entry, const PersistentValue& value,
                               const void* bytes);

  // The figures of the arenas, by device; those of steps and staging are 0. The
  // driver's error if it does not report its own.
  absl::StatusOr<std::vector<DeviceMemory>> Use() const;
  // True if the buffer is a constant that is read outside the arena.
  bool IsInPlace(const Entry& entry, BufferId buffer) const;

 private:
  // A constant that is read outside the arena: bytes [begin, end) of its
  // device's persistent memory.
  struct InPlaceConstant {
    int64_t begin;
    int64_t end;
    std::byte* bytes;
  };
  SessionMemory(const Plan& plan, const Devices& devices);
  absl::Status Load(bool constants_in_place);
  absl::Status LoadValue(const Entry& entry, const PersistentValue& value,
                         bool in_place);
  bool KeepInPlace(DeviceId device, const Range& range, const std::byte* bytes);
  absl::Status CheckFits() const;
  absl::Status CheckFitsHost() const;
  absl::Status CheckFitsDevice(DeviceId id) const;
  // False if no command accesses the device's memory.
  bool HoldsValues(DeviceId device) const;
  absl::Status NewArenas();

  const Plan& plan_;
  const Devices& devices_;
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<std::vector<InPlaceConstant>> in_place_;  // by device, sorted
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_SESSION_MEMORY_H_
