// Matches with one star at a time: only the last one may have to take more.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/match_pattern.h"

#include <cstddef>

namespace partita {

bool MatchesPattern(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0;
  size_t star = absl::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) &&
        pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++retry;  // the star takes one more character
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace partita
