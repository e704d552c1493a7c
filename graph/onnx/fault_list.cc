// Joins messages.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/fault_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace partita {

std::string JoinedFaults(absl::Span<const std::string> faults) {
  const size_t shown = std::min(faults.size(), kMaxShownFaults);
  std::string text = absl::StrJoin(faults.subspan(0, shown), "\n  ");
  if (shown < faults.size()) {
    absl::StrAppend(&text, "\n  and ", faults.size() - shown, " more");
  }
  return text;
}

}  // namespace partita
