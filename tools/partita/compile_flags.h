// The flags of a compilation beside a plan, which needs none.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_COMPILE_FLAGS_H_
#define PARTITA_TOOLS_PARTITA_COMPILE_FLAGS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partita/options/arguments.h"

namespace partita {

// CalledWrongly for the first of `flags` that is given: the operand is a plan,
// which is compiled already, so flags that would change it are mistakes.
absl::Status RefuseWithPlan(const Arguments& arguments,
                            absl::Span<const FlagDef> flags);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_COMPILE_FLAGS_H_
