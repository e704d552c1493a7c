// How a plan names the files that hold its weights.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_
#define PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace partita {

// Relative to the plan's folder, for a file in it or below, so that both can
// move together; nothing for all others, which a plan cannot name. Links are
// followed first, in both paths.
std::optional<std::string> StoredWeightPath(const std::string& plan_path,
                                            const std::string& weight_path);

// Where to open it. InvalidArgument for a path that is absolute or, by `..` or
// by a link, leaves the plan's folder: a plan from elsewhere must not reach
// what lies around the folder that it was put into.
absl::StatusOr<std::string> OpenedWeightPath(const std::string& plan_path,
                                             const std::string& stored_path);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_
