// Plans whose file is bytes of the caller.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_PLAN_IN_MEMORY_H_
#define PARTITA_PARTITA_C_API_PLAN_IN_MEMORY_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partita/session.h"

namespace partita::c_api {

// LoadPlan for the bytes of a plan file, which are copied. Accesses no file:
// InvalidArgument for a plan whose weights are in other files.
// ResourceExhausted if the system has no memory for the copy.
absl::StatusOr<ProvedPlan> LoadPlanInMemory(absl::Span<const std::byte> bytes);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_PLAN_IN_MEMORY_H_
