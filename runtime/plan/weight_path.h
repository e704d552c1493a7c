// Paths by which a plan names the files with its weights.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_
#define PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace partita {

// The path relative to the plan's folder, for a file in it or below, so that
// both can move together. Empty for other files, which a plan cannot name.
// Resolves links in both paths first.
std::optional<std::string> StoredWeightPath(const std::string& plan_path,
                                            const std::string& weight_path);

// The path to open. InvalidArgument for a path that is absolute or leaves the
// plan's folder, by `..` or by a link: a plan from elsewhere must not reach
// files outside the folder that it is in.
absl::StatusOr<std::string> OpenedWeightPath(const std::string& plan_path,
                                             const std::string& stored_path);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_
