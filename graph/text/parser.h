// Reads the textual IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_PARSER_H_
#define PARTITA_GRAPH_TEXT_PARSER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/ops/op_set.h"

namespace partita {

// Parses the variables and functions of a text in the form of PrintModule.
// Types of results are optional; they must match the types that the op infers,
// and may choose a layout. Numbered values (`%0`) have no name. Constants given
// only by hash become literals with only type and hash.
//
// `source` is the name of the text in messages: `mlp.graph:3:19: unknown value
// %w3`, the line, a caret, and the values known there. InvalidArgument with the
// first 20 faults. Parsing is safe for arbitrary bytes.
absl::StatusOr<Module> ParseModule(absl::string_view text,
                                   absl::string_view source, const OpSet& ops);

// Adds the same to `module`, which may already have literals: a constant given
// by its hash is then the literal of that hash and type. (So a file first loads
// its constants, then its text.) If there is a fault, the module's variables
// and functions are unchanged, but it may have new literals.
absl::Status ParseIntoModule(absl::string_view text, absl::string_view source,
                             const OpSet& ops, Module& module);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_PARSER_H_
