// Memory as one launch sees it: bounds, access to peers, races, undefined
// bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_KERNEL_MEMORY_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_KERNEL_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "testing/emulated_gpu/driver/access_report.h"
#include "testing/emulated_gpu/driver/address_space.h"
#include "testing/emulated_gpu/driver/command.h"
#include "testing/emulated_gpu/driver/objects.h"
#include "testing/emulated_gpu/driver/unseen_writes.h"
#include "testing/emulated_gpu/ptx/memory.h"

namespace partita::emulated_gpu {

class KernelMemory : public ptx::Memory {
 public:
  // All must outlive this.
  KernelMemory(const Command& command, uint64_t threads_of_block,
               AddressSpace& memory, UnseenWrites& unseen, AccessReport& report)
      : command_(command),
        threads_of_block_(threads_of_block),
        memory_(memory),
        unseen_(unseen),
        report_(report) {}

  absl::Status Read(const ptx::Access& access, std::byte* to) override;
  absl::Status Write(const ptx::Access& access, const std::byte* from) override;

  // Whether an access was outside what the launch may access.
  bool strayed() const { return strayed_; }

 private:
  Allocation* Find(const ptx::Access& access, const char* what);
  Accessor AccessorOf(const ptx::Access& access) const;

  const Command& command_;
  uint64_t threads_of_block_;
  AddressSpace& memory_;
  UnseenWrites& unseen_;
  AccessReport& report_;
  std::vector<Conflict> conflicts_;
  bool strayed_ = false;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_KERNEL_MEMORY_H_
