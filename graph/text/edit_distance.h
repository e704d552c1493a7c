// The edit distance of two words, for "did you mean".
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_EDIT_DISTANCE_H_
#define PARTITA_GRAPH_TEXT_EDIT_DISTANCE_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace partita {

inline constexpr size_t kMostCompared = 64;
// The distance of Damerau (1964), without edits between swapped characters:
// insertions, deletions and changes of one character, and swaps of two
// neighbours. Only the first kMostCompared characters of each word count.
size_t EditDistance(absl::string_view a, absl::string_view b);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_EDIT_DISTANCE_H_
