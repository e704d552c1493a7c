// How a plan names the files that hold its weights.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_
#define PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_

#include <string>

#include "absl/status/statusor.h"

namespace partita {

// Relative to the plan's folder for files in it and below, so that both can
// move together; absolute for all others.
std::string StoredWeightPath(const std::string& plan_path,
                             const std::string& weight_path);

// Where to open it. InvalidArgument for a path that leaves the plan's folder by
// `..`, unless parent folders are allowed: a plan from elsewhere must not reach
// what lies around the folder that it was put into.
absl::StatusOr<std::string> OpenedWeightPath(const std::string& plan_path,
                                             const std::string& stored_path,
                                             bool allow_parent_folders);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_WEIGHT_PATH_H_
