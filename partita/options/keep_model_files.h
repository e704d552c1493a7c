// Prevents a compilation from overwriting its own model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_KEEP_MODEL_FILES_H_
#define PARTITA_PARTITA_OPTIONS_KEEP_MODEL_FILES_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "partita/options/arguments.h"

namespace partita {

// CalledWrongly if a file that the call writes, or one in the folder of `dump`,
// is read too: the model, its weights, the machine. `flags` are the call's. For
// the time between reading the module and compiling it.
absl::Status KeepModelFiles(const Module& module, const CompileOptions& options,
                            const Arguments& arguments,
                            absl::Span<const FlagDef> flags);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_KEEP_MODEL_FILES_H_
