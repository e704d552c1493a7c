// Paths of weights, stored and opened.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/weight_path.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

fs::path Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return (error ? fs::path(path) : absolute).lexically_normal();
}

bool LeavesFolder(const fs::path& path) {
  return std::any_of(path.begin(), path.end(),
                     [](const fs::path& part) { return part == ".."; });
}

}  // namespace

std::string StoredWeightPath(const std::string& plan_path,
                             const std::string& weight_path) {
  const fs::path weights = Absolute(weight_path);
  const fs::path relative =
      weights.lexically_relative(Absolute(plan_path).parent_path());
  return relative.empty() || LeavesFolder(relative) ? weights.string()
                                                    : relative.string();
}

absl::StatusOr<std::string> OpenedWeightPath(const std::string& plan_path,
                                             const std::string& stored_path,
                                             bool allow_parent_folders) {
  if (stored_path.empty() || stored_path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        "weights: found an empty path or one with a zero byte; expected the "
        "path of a file");
  }
  if (!allow_parent_folders && LeavesFolder(stored_path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "weights: found ", stored_path,
        "; expected a path without `..`; put the file below the plan's folder, "
        "or allow parent folders if you trust the plan"));
  }
  const fs::path path(stored_path);
  if (path.is_absolute()) return stored_path;
  return (fs::path(plan_path).parent_path() / path).string();
}

}  // namespace partita
