// The report on kernels that were bound instead of the plan's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_REPLACED_KERNELS_H_
#define PARTITA_TOOLS_PARTITA_REPLACED_KERNELS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "runtime/executor/session_report.h"

namespace partita {

// A line about what was bound, and which command makes a matching plan; "" if
// nothing was replaced.
std::string ReplacedKernelsText(absl::string_view planner,
                                const std::vector<ReplacedKernel>& replaced);
// All of them.
nlohmann::ordered_json ReplacedKernelsJson(
    const std::vector<ReplacedKernel>& replaced);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_REPLACED_KERNELS_H_
