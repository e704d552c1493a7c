// The flags of a command, as --help shows them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_FLAGS_HELP_H_
#define PARTITA_TOOLS_PARTITA_FLAGS_HELP_H_

#include <string>

#include "absl/types/span.h"
#include "partita/options/arguments.h"

namespace partita {

// The whole line of a flag, after its name and value.
std::string FlagDoc(const FlagDef& flag);
// One a line, in columns.
std::string FlagsHelp(absl::Span<const FlagDef> flags);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_FLAGS_HELP_H_
