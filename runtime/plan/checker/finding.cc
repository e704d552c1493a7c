// Findings as a list and as a status.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/finding.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {

absl::string_view RuleName(Rule rule) {
  static constexpr absl::string_view kNames[kNumRules] = {
      "shape",
      "range",
      "device",
      "size",
      "recorded_once",
      "group_order",
      "message_pairs",
      "names",
      "sharding",
      "slots",
      "persistent",
      "event_forward",
      "message_forward",
      "capacity",
      "together",
      "write_after_write",
      "read_after_write",
      "write_after_read",
      "inside_command",
      "undefined",
      "wrong_value",
      "outputs",
      "next_step",
      "memory",
  };
  return kNames[static_cast<int>(rule)];
}

void Findings::Add(Finding finding) {
  any_ = true;
  if (full() || !options_.checks(finding.rule)) return;
  list_.push_back(std::move(finding));
}

absl::Status ToStatus(const std::vector<Finding>& findings) {
  if (findings.empty()) return absl::OkStatus();
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t i = 0; i < std::min(findings.size(), kShown); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "\n", findings[i].message);
  }
  if (findings.size() > kShown) {
    absl::StrAppend(&text, "\n... and ", findings.size() - kShown, " more");
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace partita
