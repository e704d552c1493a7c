// Adds up faults.
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph_faults.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace partita {
namespace {

constexpr size_t kMostFaults = 20;

}  // namespace

void GraphFaults::Add(absl::string_view where, absl::string_view found,
                      absl::string_view expected, absl::string_view fix) {
  Add(absl::StrCat(where, ": found ", found, "; expected ", expected, "; ",
                   fix));
}

absl::Status GraphFaults::ToStatus() const {
  if (faults_.empty()) return absl::OkStatus();
  const size_t shown = std::min(faults_.size(), kMostFaults);
  std::string text =
      absl::StrJoin(faults_.begin(), faults_.begin() + shown, "\n");
  if (shown < faults_.size()) {
    absl::StrAppend(&text, "\nand ", faults_.size() - shown, " faults more");
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace partita
