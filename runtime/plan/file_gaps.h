// Checks the bytes between the parts of a plan file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_FILE_GAPS_H_
#define PARTITA_RUNTIME_PLAN_FILE_GAPS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/plan_generated.h"

namespace partita {

// InvalidArgument, with the offset, if a byte outside all parts is not zero.
// The parts are the header, the metadata, the constants of literals, and native
// code. So every byte of the file is compared with a hash, checked, or zero.
// Needs: checked ranges of `plan`, whose metadata is a part of `file`.
absl::Status CheckGaps(const fb::Plan& plan,
                       absl::Span<const std::byte> metadata,
                       absl::Span<const std::byte> file);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_FILE_GAPS_H_
