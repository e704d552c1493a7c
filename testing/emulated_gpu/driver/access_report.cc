// Sentences about accesses.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/access_report.h"

#include "absl/strings/str_cat.h"

namespace partita::emulated_gpu {

void AccessReport::Add(FindingKind kind, absl::string_view text) {
  log_.Add(kind, absl::StrCat(timeline_.Describe(command_), text));
}

void AccessReport::Races(bool is_write, const Allocation& allocation,
                         absl::string_view where,
                         std::vector<Conflict>& conflicts) {
  for (const Conflict& conflict : conflicts) {
    const int kind = (is_write ? 2 : 0) + (conflict.other_wrote ? 1 : 0);
    if (!races_.insert({conflict.other, kind}).second) continue;
    const absl::string_view does = is_write ? " writes byte " : " reads byte ";
    const std::string what =
        absl::StrCat(does, conflict.offset, " of ", allocation.text, where);
    const absl::string_view did = conflict.other_wrote ? "writes" : "reads";
    if (conflict.other == command_) {
      Add(FindingKind::kRace,
          absl::StrCat(what, ", which another thread of the launch ", did));
    } else {
      Add(FindingKind::kRace,
          absl::StrCat(what, ", which ", timeline_.Describe(conflict.other),
                       " ", did, "; nothing orders the two"));
    }
  }
  conflicts.clear();
}

void AccessReport::Undefined(uint64_t offset, const Allocation& allocation,
                             absl::string_view where) {
  if (!undefined_.insert(&allocation).second) return;
  Add(FindingKind::kUndefined,
      absl::StrCat(" reads byte ", offset, " of ", allocation.text, where,
                   ", which nothing wrote"));
}

}  // namespace partita::emulated_gpu
