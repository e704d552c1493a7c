// Converts a Plan to FlatBuffers metadata.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PACK_PLAN_H_
#define PARTITA_RUNTIME_PLAN_PACK_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/stored_constants.h"

namespace partita {

// The position of native code in the plan's file.
struct StoredCode {
  ContentHash hash;
  int64_t offset = 0;
  int64_t size = 0;
  bool declared = false;  // read from text: its bytes are missing
};

// The bytes of the metadata. Needs: ids that exist (CheckIds).
// ResourceExhausted if the metadata is too large for FlatBuffers.
absl::StatusOr<std::string> PackPlan(
    const Plan& plan, const StoredConstants& constants,
    const std::vector<StoredCode>& code_objects);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PACK_PLAN_H_
