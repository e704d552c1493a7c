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

constexpr char kWayOut[] =
    "; put the file below the plan's folder and compile the model there, or "
    "compile it with --weights embed";

// Parts that do not exist yet stay as they are written.
fs::path WithoutLinks(const fs::path& path) {
  std::error_code error;
  fs::path found = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : found;
}

fs::path FolderOf(const std::string& plan_path) {
  return WithoutLinks(plan_path).parent_path();
}

bool IsBelow(const fs::path& folder, const fs::path& path) {
  const auto [end, _] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

absl::Status Leaves(const std::string& stored_path, absl::string_view how) {
  return absl::InvalidArgumentError(
      absl::StrCat("weights: found ", stored_path, ", ", how,
                   "; expected a file in the plan's folder or below", kWayOut));
}

}  // namespace

std::optional<std::string> StoredWeightPath(const std::string& plan_path,
                                            const std::string& weight_path) {
  const fs::path folder = FolderOf(plan_path);
  const fs::path weights = WithoutLinks(weight_path);
  if (!IsBelow(folder, weights)) return std::nullopt;
  return weights.lexically_relative(folder).string();
}

absl::StatusOr<std::string> OpenedWeightPath(const std::string& plan_path,
                                             const std::string& stored_path) {
  if (stored_path.empty() || stored_path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        "weights: found an empty path or one with a zero byte; expected the "
        "path of a file");
  }
  const fs::path stored(stored_path);
  if (stored.is_absolute()) return Leaves(stored_path, "an absolute path");
  // Checked before links are resolved, so that no file outside is accessed.
  const fs::path folder = FolderOf(plan_path);
  if (!IsBelow(folder, (folder / stored).lexically_normal())) {
    return Leaves(stored_path, "which leaves the plan's folder");
  }
  const fs::path path = WithoutLinks(folder / stored);
  if (!IsBelow(folder, path)) {
    return Leaves(stored_path,
                  absl::StrCat("a link to ", path.string(), ", outside"));
  }
  return path.string();
}

}  // namespace partita
