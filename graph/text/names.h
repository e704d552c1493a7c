// The spelling of names and strings in the textual IR.
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

// True for a name that needs no quotes after `%` and `@`: a letter or '_', then
// letters, digits, '_', '.' and '/'.
bool IsBareName(absl::string_view name);
// True for a device or kernel that needs no quotes: "gpu:0", "onednn.conv".
bool IsBareWord(absl::string_view word);

// The text in quotes, with escapes for quotes, backslashes and all bytes that
// are not printable ASCII.
std::string Quoted(absl::string_view text);
// The inverse of Quoted; nothing for malformed text.
std::optional<std::string> Unquoted(absl::string_view text);

// The name if it is bare, otherwise in quotes.
std::string NameText(absl::string_view name);
std::string WordText(absl::string_view word);

// The name as one component of a file path, unique for each name. '/', '%' and
// bytes that are not printable ASCII become '%' and two hexadecimal digits. If
// the result is longer than kMostOfFileName, it is cut to kKeptOfFileName
// bytes, then "%-" and the hash of the whole name follow.
inline constexpr size_t kMostOfFileName = 200;
inline constexpr size_t kKeptOfFileName = 160;
std::string FileName(absl::string_view name);

// By value id: the name after `%`, or a number for values without a name.
// Repeated names get a suffix.
std::vector<std::string> ValueNames(const Graph& graph);

// Up to `limit` candidates nearest to `name`, in the given order.
std::vector<std::string> ClosestNames(absl::string_view name,
                                      absl::Span<const std::string> candidates,
                                      size_t limit);

// The nearest candidate, if at most half of its letters differ.
std::optional<std::string> ProbablyMeant(
    absl::string_view name, absl::Span<const std::string> candidates);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_NAMES_H_
