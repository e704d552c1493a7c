// The values that a graph's text has defined so far.
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

  // False, and reported, if the name is taken.
  bool Define(const Token& name, ValueId id);
  // A value whose line was faulty: found, and invalid, so that what depends on
  // it is not reported again.
  void DefineFaulty(const Token& name);
  // Takes `%name`. False, and reported, if nothing of this name was defined.
  bool Read(ValueId& id);

 private:
  TokenReader& reader_;
  absl::flat_hash_map<std::string, ValueId> values_;  // by name as written
  std::vector<std::string> names_;                    // in order, with sigils
};

// "known here: %a, %b": those of the candidates that are spelled most like the
// name.
std::string KnownHere(absl::string_view name,
                      absl::Span<const std::string> candidates);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_VALUE_SCOPE_H_
