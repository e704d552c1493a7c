// Converts FlatBuffers metadata to a Plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_UNPACK_PLAN_H_
#define PARTITA_RUNTIME_PLAN_UNPACK_PLAN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// The plan whose metadata is at `metadata`, a part of `file`. Trusts none of
// its bytes. Messages do not name the file.
absl::StatusOr<Plan> UnpackPlan(absl::Span<const std::byte> metadata,
                                std::shared_ptr<const MappedFile> file,
                                const ReadPlanOptions& options);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_UNPACK_PLAN_H_
