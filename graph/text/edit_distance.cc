// One row of Levenshtein's table at a time.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace partita {

size_t EditDistance(absl::string_view a, absl::string_view b) {
  constexpr size_t kMost = 64;
  a = a.substr(0, kMost);
  b = b.substr(0, kMost);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace partita
