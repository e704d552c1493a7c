// A device that is too small for what was lowered: told to people as planners
// tell it, and to compile.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_
#define PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "placement/planner/refusal.h"

namespace partita {

// ResourceExhausted with the refusal's text and, for MissingBytesOf, its
// particulars.
absl::Status ShortageError(const Refusal& refusal);

// The device that is short and by how much: what a planner must leave free to
// try again. Nothing if the status is not a ShortageError.
struct MissingBytes {
  std::string device;
  int64_t bytes = 0;
};
std::optional<MissingBytes> MissingBytesOf(const absl::Status& status);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_
