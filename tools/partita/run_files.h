// The files that a run writes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_RUN_FILES_H_
#define PARTITA_TOOLS_PARTITA_RUN_FILES_H_

#include "absl/status/status.h"
#include "partita/options/arguments.h"
#include "partita/options/input_files.h"
#include "partita/session.h"

namespace partita {

// CalledWrongly if a file to write is an input, and an error if one cannot be
// written. Makes the folder of --output. Call it before anything runs.
absl::Status CheckRunFiles(const Session& session, const InputFiles& inputs,
                           const Arguments& arguments);

// The last step's timeline to --trace, its outputs to --output, and the use of
// memory to --memory-snapshot.
absl::Status WriteRunFiles(const Session& session, const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_RUN_FILES_H_
