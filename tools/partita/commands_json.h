// The commands and their flags, for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_COMMANDS_JSON_H_
#define PARTITA_TOOLS_PARTITA_COMMANDS_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/partita/subcommand.h"

namespace partita {

// What --help says, and the values that it does not list:
//   {"summary": "...",
//    "commands": [
//      {"name": "check", "usage": "check PLAN", "doc": "...",
//       "operands": ["builtin:resnet50"],       beside files; may be empty
//       "groups": [
//         {"heading": "flags",
//          "flags": [
//            {"name": "nan", "value": "stop|continue",     null for a switch
//             "doc": "...", "values": ["stop", "continue"],   may be empty
//             "file": false}]}]}]}             true: it may also be a file
std::string CommandsJson(absl::string_view summary,
                         absl::Span<const Subcommand* const> commands);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_COMMANDS_JSON_H_
