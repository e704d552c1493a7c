// Pairs of kernels, counted.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/replaced_kernels.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

std::string PairText(const ReplacedKernel& pair) {
  return absl::StrCat(CountText(pair.commands, "command"), " by ", pair.bound,
                      " (", pair.bound_arithmetic, ") instead of ",
                      pair.planned,
                      pair.planned_arithmetic.empty()
                          ? ""
                          : absl::StrCat(" (", pair.planned_arithmetic, ")"));
}

bool HasFewerCommands(const ReplacedKernel& a, const ReplacedKernel& b) {
  return a.commands < b.commands;
}

}  // namespace

std::string ReplacedKernelsText(absl::string_view planner,
                                const std::vector<ReplacedKernel>& replaced) {
  if (replaced.empty()) return "";
  // One short line for any number of them, with the most frequent pair.
  const size_t more = replaced.size() - 1;
  return absl::StrCat(
      "note: may be slower than a plan for this host, and differ in rounding: ",
      PairText(*absl::c_max_element(replaced, HasFewerCommands)),
      more == 0 ? ""
                : absl::StrCat(", and ", more, more == 1 ? " pair" : " pairs",
                               " more (--json)"),
      "; `partita ", planner, "` without --machine plans for this host\n");
}

nlohmann::ordered_json ReplacedKernelsJson(
    const std::vector<ReplacedKernel>& replaced) {
  auto list = nlohmann::ordered_json::array();
  for (const ReplacedKernel& pair : replaced) {
    list.push_back({{"commands", pair.commands},
                    {"bound", pair.bound},
                    {"bound_arithmetic", pair.bound_arithmetic},
                    {"planned", pair.planned},
                    {"planned_arithmetic", pair.planned_arithmetic}});
  }
  return list;
}

}  // namespace partita
