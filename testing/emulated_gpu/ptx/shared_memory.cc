// A record for each byte.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/shared_memory.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita::ptx {
absl::Status SharedMemory::CheckBounds(const Access& access) const {
  for (const SharedVariable& variable : variables_) {
    if (access.address >= variable.address &&
        access.address - variable.address <= variable.bytes &&
        static_cast<uint64_t>(access.bytes) <=
            variable.bytes - (access.address - variable.address)) {
      return absl::OkStatus();
    }
  }
  return absl::OutOfRangeError(
      absl::StrCat("found ", access.bytes, " bytes of shared memory at ",
                   access.address, "; expected bytes of one variable"));
}

absl::Status SharedMemory::CheckRace(const Mark& mark, const Access& access,
                                     absl::string_view found,
                                     absl::string_view other) const {
  const uint32_t by = mark.thread == access.thread ? mark.other : mark.thread;
  if (mark.barriers != barriers_ || by == access.thread)
    return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("found ", found, " of a byte that thread ", by, " ", other,
                   "; expected a barrier between them"));
}

absl::Status SharedMemory::Read(const Access& access, std::byte* to) {
  PARTITA_RETURN_IF_ERROR(CheckBounds(access));
  for (int i = 0; i < access.bytes; ++i) {
    const auto found = bytes_.find(access.address + i);
    if (found == bytes_.end()) {
      return absl::DataLossError(
          "found a read of shared memory that no thread wrote; expected bytes "
          "written before");
    }
    Byte& byte = found->second;
    PARTITA_RETURN_IF_ERROR(CheckRace(byte.written, access, "a read", "wrote"));
    if (byte.read.barriers != barriers_) {
      byte.read = {barriers_, access.thread, access.thread};
    } else if (byte.read.thread != access.thread) {
      byte.read.other = access.thread;
    }
    to[i] = byte.value;
  }
  return absl::OkStatus();
}

absl::Status SharedMemory::Write(const Access& access, const std::byte* from) {
  PARTITA_RETURN_IF_ERROR(CheckBounds(access));
  for (int i = 0; i < access.bytes; ++i) {
    Byte& byte = bytes_[access.address + i];
    PARTITA_RETURN_IF_ERROR(
        CheckRace(byte.written, access, "a write", "wrote"));
    PARTITA_RETURN_IF_ERROR(CheckRace(byte.read, access, "a write", "read"));
    byte.value = from[i];
    byte.written = {barriers_, access.thread, access.thread};
  }
  return absl::OkStatus();
}

}  // namespace partita::ptx
