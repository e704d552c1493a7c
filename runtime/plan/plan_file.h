// Plans as files.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_FILE_H_
#define PARTITA_RUNTIME_PLAN_PLAN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/op_set.h"
#include "runtime/plan/plan.h"

namespace partita {

// Where the bytes of constants go.
enum class WeightStorage : uint8_t {
  kEmbed,      // all into the plan
  kReference,  // those that lie in a mapped file stay there
};

struct PlanFileOptions {
  WeightStorage weights = WeightStorage::kEmbed;
};

// Bytes of constants: in the plan's own file, and in files that it refers to.
// What a pass folded or packed lies in no file, and what is not aligned there,
// overlaps another constant, or lies outside the plan's folder, which reading
// never leaves, cannot be used there: such constants are embedded always.
struct WrittenWeights {
  int64_t embedded = 0;
  int64_t referenced = 0;
  int64_t misplaced = 0;  // of those embedded: not aligned, or overlapping
  int64_t outside = 0;  // of those embedded: in no file below the plan's folder
};

// Writes beside `path` under another name, and takes that name only when all
// is on the disk: at every moment `path` is the old file or the new one. On a
// failure (ResourceExhausted for a full disk, PermissionDenied, ...) nothing is
// left behind. The same plan gives the same bytes. Constants are written from
// where they lie; their bytes must be at hand.
absl::StatusOr<WrittenWeights> WritePlan(const Plan& plan,
                                         const std::string& path,
                                         const PlanFileOptions& options = {});

struct ReadPlanOptions {
  const OpSet* ops = nullptr;  // the built-in ones
  // Reads all constants and refuses bytes, here or in files that the plan
  // references, that are not those that it was compiled with. Without it only
  // their places and sizes are checked. (Images and metadata are always
  // compared with their hashes, and the gaps between the parts are zero.)
  bool verify_hashes = true;
};

// Maps the file; constants stay in it and in the files that it references,
// which must lie in its folder or below. Any bytes at all are safe to read:
// what does not fit is InvalidArgument, and no byte of a constant is read
// twice. Every id of the plan refers to something; whether it is a good plan is
// the checker's question.
absl::StatusOr<Plan> ReadPlan(const std::string& path,
                              const ReadPlanOptions& options = {});

// Whether the file begins as a plan does.
bool LooksLikePlanFile(absl::Span<const std::byte> bytes);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_FILE_H_
