// Finds files that are given in place of others.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_MISPLACED_FILES_H_
#define PARTITA_TOOLS_PARTITA_MISPLACED_FILES_H_

#include "absl/status/status.h"
#include "partita/options/arguments.h"
#include "tools/partita/subcommand.h"

namespace partita {

// CalledWrongly if an operand or the file of a flag is of a kind that is not
// read there: names the kind, and the argument that reads it. Files that are
// missing or of no known kind are left to their readers.
absl::Status CheckFileKinds(const Subcommand& command,
                            const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_MISPLACED_FILES_H_
