// Plans as files.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_FILE_H_
#define PARTITA_RUNTIME_PLAN_PLAN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/ops/op_set.h"
#include "runtime/plan/plan.h"

namespace partita {

// Where the bytes of constants are stored.
enum class WeightStorage : uint8_t {
  kEmbed,      // all in the plan
  kReference,  // constants of mapped files stay in those files
};

struct PlanFileOptions {
  WeightStorage weights = WeightStorage::kEmbed;
};

// Bytes of constants: in the plan's own file, and in files that it references.
// Some constants are always embedded: those that a pass folded or packed, which
// are in no file; and those that cannot be used in their file, because they are
// not aligned, overlap another constant, or are outside the plan's folder,
// which reading never leaves.
struct WrittenWeights {
  int64_t embedded = 0;
  int64_t referenced = 0;
  int64_t misplaced = 0;  // embedded because not aligned, or overlapping
  int64_t outside = 0;    // embedded because outside the plan's folder
};

// Writes to another name beside `path`, and renames the file when all of it is
// on disk: `path` is always the old file or the new one. After a failure
// (ResourceExhausted for a full disk, PermissionDenied, ...) no file is left
// behind. The same plan gives the same bytes. Copies constants from where they
// are stored; their bytes must be available.
absl::StatusOr<WrittenWeights> WritePlan(const Plan& plan,
                                         const std::string& path,
                                         const PlanFileOptions& options = {});

struct ReadPlanOptions {
  const OpSet* ops = nullptr;  // default: the built-in ones
  // Reads all constants, here and in referenced files, and refuses bytes that
  // differ from those at compile time. If false, only positions and sizes of
  // constants are checked. (Native code and metadata are always compared with
  // their hashes, and gaps between the parts with zero.)
  bool verify_hashes = true;
};

// Maps the file. Constants stay in it and in the files that it references,
// which must be in its folder or below. Any bytes are safe to read: bad ones
// give InvalidArgument, and no byte of a constant is read twice. Every id of
// the returned plan exists; whether the plan is correct is for the checker to
// decide.
absl::StatusOr<Plan> ReadPlan(const std::string& path,
                              const ReadPlanOptions& options = {});

// True if the file begins like a plan.
bool LooksLikePlanFile(absl::Span<const std::byte> bytes);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_FILE_H_
