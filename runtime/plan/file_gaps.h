// What lies between the parts of a plan file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_FILE_GAPS_H_
#define PARTITA_RUNTIME_PLAN_FILE_GAPS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/plan_generated.h"

namespace partita {

// InvalidArgument, naming the byte, if one that is not zero lies in no part:
// neither header nor metadata, no literal's constant and no kernel image. So
// all of the file is compared with a hash or known, and nothing hides in it.
// The ranges of `plan`, whose metadata is a part of `file`, are checked before.
absl::Status CheckGaps(const fb::Plan& plan,
                       absl::Span<const std::byte> metadata,
                       absl::Span<const std::byte> file);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_FILE_GAPS_H_
