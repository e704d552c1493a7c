// The values that are defined so far in a graph's text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_VALUE_SCOPE_H_
#define PARTITA_GRAPH_TEXT_VALUE_SCOPE_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/ids.h"
#include "graph/text/token_reader.h"

namespace partita {

class ValueScope {
 public:
  explicit ValueScope(TokenReader& reader) : reader_(reader) {}

  // False, with a report, if the name is in use.
  bool Define(const Token& name, ValueId id);
  // Defines an invalid value for a line with a fault, so that lines that depend
  // on it are not reported again.
  void DefineFaulty(const Token& name);
  // Reads `%name`. False, with a report, if this name is not defined.
  bool Read(ValueId& id);

 private:
  TokenReader& reader_;
  absl::flat_hash_map<std::string, ValueId> values_;  // by name as written
  std::vector<std::string> names_;                    // in order, with sigils
};

// "known here: %a, %b": the candidates nearest to the name.
std::string KnownHere(absl::string_view name,
                      absl::Span<const std::string> candidates);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_VALUE_SCOPE_H_
