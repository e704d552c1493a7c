// Reads the textual IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_PARSER_H_
#define PARTITA_GRAPH_TEXT_PARSER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/op_set.h"

namespace partita {

// The variables and functions of a text as PrintModule writes it. Types of
// results may be left out; where they are given they must be what the op
// infers, and may choose a layout. Numbered values (`%0`) have no name.
// Constants given by their hash alone are declared literals.
//
// `source` names the text in messages: `mlp.graph:3:19: unknown value %w3`, the
// line, a caret, and what is known there. InvalidArgument with the first 20
// faults. Any bytes at all are safe to parse.
absl::StatusOr<Module> ParseModule(absl::string_view text,
                                   absl::string_view source, const OpSet& ops);

// The same, added to `module`, which may already hold literals: a constant
// given by its hash is then the literal of that hash and type. (So a file gives
// its constants first, and then its text.) The module keeps its variables and
// functions as they were if there is a fault, but may gain literals.
absl::Status ParseIntoModule(absl::string_view text, absl::string_view source,
                             const OpSet& ops, Module& module);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_PARSER_H_
