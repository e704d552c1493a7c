// Turns what is wrong with accesses into findings.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_ACCESS_REPORT_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_ACCESS_REPORT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/driver/address_space.h"
#include "testing/emulated_gpu/driver/finding.h"
#include "testing/emulated_gpu/driver/shadow.h"
#include "testing/emulated_gpu/driver/timeline.h"

namespace partita::emulated_gpu {

// What a command was seen to do wrong: each fault once for the command, by its
// first byte.
class AccessReport {
 public:
  AccessReport(CommandId command, const Timeline& timeline, FindingLog& log)
      : command_(command), timeline_(timeline), log_(log) {}

  // Empties `conflicts`. `where` is the place in a kernel, or empty.
  void Races(bool is_write, const Allocation& allocation,
             absl::string_view where, std::vector<Conflict>& conflicts);
  void Undefined(uint64_t offset, const Allocation& allocation,
                 absl::string_view where);
  void Add(FindingKind kind, absl::string_view text);

 private:
  CommandId command_;
  const Timeline& timeline_;
  FindingLog& log_;
  absl::flat_hash_set<std::pair<CommandId, int>> races_;
  absl::flat_hash_set<const Allocation*> undefined_;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_ACCESS_REPORT_H_
