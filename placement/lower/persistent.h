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
  explicit PersistentArenas(const DeviceTable& devices)
      : bytes_(devices.names.size(), 0) {}

  // The offsets of the persistent storages that a task of the draft accesses;
  // -1 for others.
  IdVector<StorageId, int64_t> Allocate(const PlanDraft& draft);
  // Writes these offsets, and the initial values, into the storages. Adds
  // shards of a literal to the literals of the module. FailedPrecondition if
  // the bytes of the literal are not loaded.
  absl::Status Place(PlanDraft& draft, const Module& module);
  int64_t bytes(MachineDeviceId device) const { return bytes_[device]; }

 private:
  absl::StatusOr<LiteralId> InitialOf(const PlanDraft& draft,
                                      const Storage& storage,
                                      const Module& module);

  std::map<std::pair<MachineDeviceId, std::string>, int64_t> offsets_;
  // By content: shards of split literals.
  std::map<std::string, LiteralId> literal_shards_;
  IdVector<MachineDeviceId, int64_t> bytes_;
};

// FailedPrecondition if an updated variable has different devices or shardings
// in two functions.
absl::Status CheckVariablePlacements(const Module& module);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PERSISTENT_H_
