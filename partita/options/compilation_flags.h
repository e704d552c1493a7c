// All flags of a compilation: of `partita compile`, which has others for its
// output, and the keys of partita_compile.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_COMPILATION_FLAGS_H_
#define PARTITA_PARTITA_OPTIONS_COMPILATION_FLAGS_H_

#include "partita/options/arguments.h"
#include "partita/options/import_flags.h"
#include "partita/options/placing_flags.h"

namespace partita {

inline constexpr auto kCompilationFlags = JoinFlags(
    kPlacementFlags, kOverlapFlags, kModelFlags, kWeightsFlags, kPassFlags);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_COMPILATION_FLAGS_H_
