// The memory that the threads of a block share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_SHARED_MEMORY_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "testing/emulated_gpu/ptx/memory.h"
#include "testing/emulated_gpu/ptx/module.h"

namespace partita::ptx {

// Checks bounds, undefined bytes and races: two threads that access a byte
// between two barriers, one of them writing. Its errors are OutOfRange and
// FailedPrecondition.
class SharedMemory : public Memory {
 public:
  explicit SharedMemory(absl::Span<const SharedVariable> variables)
      : variables_(variables) {}

  // All bytes are undefined again.
  void BeginBlock() { bytes_.clear(); }
  // All threads of the block have arrived.
  void PassBarrier() { ++barriers_; }

  absl::Status Read(const Access& access, std::byte* to) override;
  absl::Status Write(const Access& access, const std::byte* from) override;

 private:
  // Accesses after so many barriers, by a thread, and by another if there is
  // one.
  struct Mark {
    uint64_t barriers = 0;
    uint32_t thread = 0;
    uint32_t other = 0;
  };
  struct Byte {
    std::byte value{};
    Mark written;
    Mark read;
  };
  absl::Status CheckBounds(const Access& access) const;
  // Whether another thread made `mark` since the last barrier; an error then.
  absl::Status CheckRace(const Mark& mark, const Access& access,
                         absl::string_view found,
                         absl::string_view other) const;

  const absl::Span<const SharedVariable> variables_;
  uint64_t barriers_ = 1;
  absl::flat_hash_map<uint64_t, Byte> bytes_;  // that were written
};

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_SHARED_MEMORY_H_
