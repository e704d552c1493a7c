// Keeps what a command writes off the files that it reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_SAME_FILE_H_
#define PARTITA_TOOLS_PARTITA_SAME_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/partita/arguments.h"

namespace partita {

// CalledWrongly if `path`, which --`flag` has written, is the operand or a file
// that one of `flags` reads, by whatever name or link.
absl::Status KeepInputs(absl::string_view flag, const std::string& path,
                        const Arguments& arguments,
                        absl::Span<const FlagDef> flags);

// The same of every flag that names a file to write.
absl::Status KeepInputs(const Arguments& arguments,
                        absl::Span<const FlagDef> flags);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_SAME_FILE_H_
