// Step 8: the bytes of constants and variables, shared by all functions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PERSISTENT_H_
#define PARTITA_PLACEMENT_LOWER_PERSISTENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// The persistent parts of the arenas while functions are added. A variable, or
// a constant in one layout, has the same bytes in every function.
class PersistentArenas {
 public:
  explicit PersistentArenas(int num_devices) : bytes_(num_devices, 0) {}

  // Gives addresses and first values to the persistent storages that a task of
  // the draft touches. Parts of a literal are added to the module's literals;
  // FailedPrecondition if its bytes are not at hand.
  absl::Status Place(PlanDraft& draft, const Module& module);
  int64_t bytes(int device) const { return bytes_[device]; }

 private:
  absl::StatusOr<LiteralId> InitialOf(const PlanDraft& draft,
                                      const Storage& storage,
                                      const Module& module);

  std::map<std::pair<int, std::string>, int64_t> addresses_;
  std::map<std::string, LiteralId> parts_;  // by content, of split storages
  std::vector<int64_t> bytes_;
};

// FailedPrecondition if a variable that some function updates does not lie on
// the same devices, in the same sharding, in all of them.
absl::Status CheckVariableHomes(const Module& module);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PERSISTENT_H_
