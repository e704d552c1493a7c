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
#include "placement/lower/draft.h"

namespace partita {

// The persistent parts of the arenas while functions are added. A variable, or
// a constant in one layout, has the same bytes in every function.
class PersistentArenas {
 public:
  explicit PersistentArenas(int num_devices) : bytes_(num_devices, 0) {}

  // Gives addresses to the persistent storages that a task of the draft
  // touches, or that an output or update of its graph needs.
  void Place(Draft& draft);
  int64_t bytes(int device) const { return bytes_[device]; }

 private:
  std::map<std::pair<int, std::string>, int64_t> addresses_;
  std::vector<int64_t> bytes_;
};

// FailedPrecondition if a variable that some function updates does not lie on
// the same devices, in the same sharding, in all of them.
absl::Status CheckVariableHomes(const Module& module);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PERSISTENT_H_
