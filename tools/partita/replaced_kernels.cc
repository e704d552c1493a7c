// Pairs of kernels, counted.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/replaced_kernels.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

// One line however many there are: the first few pairs, then a number.
constexpr size_t kReplacedShown = 3;

}  // namespace

std::string ReplacedKernelsText(absl::string_view planner,
                                const std::vector<ReplacedKernel>& replaced) {
  if (replaced.empty()) return "";
  std::vector<std::string> pairs;
  for (const ReplacedKernel& pair : replaced) {
    if (pairs.size() == kReplacedShown) {
      pairs.push_back(
          absl::StrCat(replaced.size() - kReplacedShown, " more such pairs"));
      break;
    }
    pairs.push_back(
        absl::StrCat(CountText(pair.commands, "command"), " by ", pair.bound,
                     " (", pair.bound_arithmetic, ") instead of ", pair.planned,
                     pair.planned_arithmetic.empty()
                         ? ""
                         : absl::StrCat(" (", pair.planned_arithmetic, ")")));
  }
  return absl::StrCat(
      "note: results may differ in rounding from the plan's machine: ",
      absl::StrJoin(pairs, ", "),
      "; this host's fastest kernels are in a plan that `partita ", planner,
      "` makes without --machine\n");
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
