// Provides the code of a session's generated kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_GENERATED_CODE_H_
#define PARTITA_PARTITA_GENERATED_CODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/code_loader.h"
#include "runtime/plan/plan.h"

namespace partita {

// By device of the plan: what loads its code; null: it runs no code.
using CodeLoaders = std::vector<const CodeLoader*>;

// Provides the code of the plan's generated kernels, before they are bound:
//  1. code that this process built already exists;
//  2. with `trust_code`, the plan's code objects are loaded;
//  3. otherwise it is built again from the bodies in the plan, if the code
//     generator is available; for this processor, if it emulates one with
//     instructions that it lacks;
//  4. otherwise an interpreter computes the same bits, slowly; on GPUs there is
//     none, and kernels without code are refused when they are bound.
//
// Returns one line about cases 3 and 4, and otherwise "".
absl::StatusOr<std::string> PrepareGeneratedCode(const Plan& plan,
                                                 const CodeLoaders& loaders,
                                                 bool trust_code);

// Builds code for the elementwise nodes of emulated GPUs, and for the
// elementwise part of fused nodes for which the host may have no kernel. If the
// code generator is not available, an interpreter computes them, and the
// returned line says so.
absl::StatusOr<std::string> PrepareEmulatedCode(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_PARTITA_GENERATED_CODE_H_
