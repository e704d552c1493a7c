// Names and strings as the textual IR spells them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_NAMES_H_
#define PARTITA_GRAPH_TEXT_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// What `%` and `@` may be followed by without quotes: a letter or '_', then
// letters, digits, '_', '.' and '/'.
bool IsBareName(absl::string_view name);
// What may stand for a device or kernel without quotes: "gpu:0", "onednn.conv".
bool IsBareWord(absl::string_view word);

// In quotes, with escapes for quotes, backslashes and all but printable ASCII.
std::string Quoted(absl::string_view text);
// Reads what Quoted writes; nothing if it is malformed.
std::optional<std::string> Unquoted(absl::string_view text);

// The name if it is bare, else in quotes.
std::string NameText(absl::string_view name);
std::string WordText(absl::string_view word);

// The name as one part of a file's path, and of no other name: '/', '%' and
// what is not printable ASCII are written as '%' and two hexadecimal digits. Of
// a name that becomes longer than kMostOfFileName so, the first
// kKeptOfFileName bytes stay, then "%-" and the hash of the whole name.
inline constexpr size_t kMostOfFileName = 200;
inline constexpr size_t kKeptOfFileName = 160;
std::string FileName(absl::string_view name);

// What `%` is followed by, for each value of the graph by its id: its name, or
// a number for those without one. Names that repeat get a suffix.
std::vector<std::string> ValueNames(const Graph& graph);

// Up to `limit` of the candidates, those spelled most like `name`, in the order
// given.
std::vector<std::string> ClosestNames(absl::string_view name,
                                      absl::Span<const std::string> candidates,
                                      size_t limit);

// The candidate that `name` is probably a slip of: the one spelled most like
// it, if at most half of its letters differ.
std::optional<std::string> ProbablyMeant(
    absl::string_view name, absl::Span<const std::string> candidates);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_NAMES_H_
