// Where the values of a JSON text are, for errors about them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_JSON_PLACES_H_
#define PARTITA_PLACEMENT_MACHINE_JSON_PLACES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// "LINE:COLUMN" of a byte, both from 1; columns count bytes.
std::string LineAndColumn(absl::string_view text, size_t offset);

// The functions below need a text that a parser has accepted.

// The first value in the text, without the space around it.
absl::string_view JsonValueIn(absl::string_view text);

struct JsonMember {
  absl::string_view key;  // in its quotes
  absl::string_view value;
};
// The member of an object's text with this key; nothing if it has none.
std::optional<JsonMember> FindJsonMember(absl::string_view object,
                                         absl::string_view key);
// The entries of a list's text.
std::vector<absl::string_view> JsonEntries(absl::string_view list);

// The offset of the key with this index, among all keys in their order.
size_t OffsetOfKey(absl::string_view text, size_t index);
// The offset of the first bracket inside of `depth` others. The text needs to
// be valid up to there.
size_t OffsetOfDepth(absl::string_view text, size_t depth);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_JSON_PLACES_H_
