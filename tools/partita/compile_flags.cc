// Refuses flags of a model beside a plan.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/compile_flags.h"

#include "absl/strings/str_cat.h"

namespace partita {

absl::Status RefuseWithPlan(const Arguments& arguments,
                            absl::Span<const FlagDef> flags) {
  for (const FlagDef& flag : flags) {
    if (!arguments.has(flag.name)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag.name, ": found with a plan, which is ",
                     "compiled already; expected it with a model"));
  }
  return absl::OkStatus();
}

}  // namespace partita
