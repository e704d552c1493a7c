// What the program does with each kind of file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_FILE_USES_H_
#define PARTITA_TOOLS_PARTITA_FILE_USES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "partita/options/file_kinds.h"

namespace partita {

// What to call with such a file: "compile it first: partita compile a.graph
// --output FILE.plan".
std::string UseOf(FileKind kind, absl::string_view path);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_FILE_USES_H_
