// The bytes of constants and variables, shared by all functions.
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

// Allocates the persistent parts of the arenas, function by function. A
// variable, or a constant in one layout, has the same bytes in every function.
class PersistentArenas {
 public:
  explicit PersistentArenas(int num_devices) : bytes_(num_devices, 0) {}

  // Assigns addresses and initial values to the persistent storages that a task
  // of the draft accesses. Adds shards of a literal to the literals of the
  // module. FailedPrecondition if the bytes of the literal are not loaded.
  absl::Status Place(PlanDraft& draft, const Module& module);
  int64_t bytes(int device) const { return bytes_[device]; }

 private:
  absl::StatusOr<LiteralId> InitialOf(const PlanDraft& draft,
                                      const Storage& storage,
                                      const Module& module);

  std::map<std::pair<int, std::string>, int64_t> addresses_;
  // By content: shards of split literals.
  std::map<std::string, LiteralId> literal_shards_;
  std::vector<int64_t> bytes_;
};

// FailedPrecondition if an updated variable has different devices or shardings
// in two functions.
absl::Status CheckVariablePlacements(const Module& module);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PERSISTENT_H_
