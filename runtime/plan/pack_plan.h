// Plan to FlatBuffers metadata.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PACK_PLAN_H_
#define PARTITA_RUNTIME_PLAN_PACK_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/stored_constants.h"

namespace partita {

// Where an image's bytes lie in the plan's file.
struct StoredImage {
  ContentHash hash;
  int64_t offset = 0;
  int64_t size = 0;
  bool declared = false;  // read from text: there are no bytes
};

// The bytes of the metadata. Ids of the plan must exist (CheckIds).
// ResourceExhausted if FlatBuffers cannot hold that much.
absl::StatusOr<std::string> PackPlan(const Plan& plan,
                                     const StoredConstants& constants,
                                     const std::vector<StoredImage>& images);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PACK_PLAN_H_
