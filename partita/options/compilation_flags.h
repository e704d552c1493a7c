// The flags of a compilation.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_COMPILATION_FLAGS_H_
#define PARTITA_PARTITA_OPTIONS_COMPILATION_FLAGS_H_

#include "partita/options/arguments.h"
#include "partita/options/import_flags.h"
#include "partita/options/placing_flags.h"

namespace partita {

// Those that decide a plan for a given machine: also of commands that make a
// plan again.
inline constexpr auto kPlanSourceFlags =
    JoinFlags(kStrategyNameFlags, kPinFlags, kStrategyFlags, kStepFlags,
              kOverlapFlags, kModelFlags, kSkipFlags);
// All: of `partita compile`, which has others for its output, and the keys of
// partita_compile.
inline constexpr auto kCompilationFlags =
    JoinFlags(kMachineFlags, kPlanSourceFlags, kWeightsFlags, kPassFlags);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_COMPILATION_FLAGS_H_
