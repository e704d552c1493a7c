// Decides where a session's generated kernels come from.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_GENERATED_CODE_H_
#define PARTITA_PARTITA_GENERATED_CODE_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

// Sees to the code of the plan's generated kernels, before they are bound:
//  1. what this process made it has;
//  2. with `trust_code`, the plan's images;
//  3. else it is built again from the bodies that the plan carries, if the code
//     generator is here: for this processor, where it plays one that has
//     instructions which it lacks;
//  4. else an interpreter computes the same bits, slowly.
// Gives one line that says so in cases 3 and 4, and is empty otherwise.
absl::StatusOr<std::string> PrepareGeneratedCode(const Plan& plan,
                                                 bool trust_code);

// Builds code for the elementwise nodes of GPUs that virtual devices play, and
// for what is elementwise in fused ones that the host may have no kernel for.
// Where the code generator is not here an interpreter serves, and one line says
// so.
absl::StatusOr<std::string> PreparePlayedCode(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_PARTITA_GENERATED_CODE_H_
