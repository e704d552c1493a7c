// Reads plans.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/plan_input.h"

#include <memory>

#include "absl/strings/match.h"
#include "graph/op_set.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_text.h"

namespace partita {

namespace {

absl::string_view TextOf(const MappedFile& file) {
  return absl::string_view(reinterpret_cast<const char*>(file.bytes().data()),
                           file.bytes().size());
}

}  // namespace

absl::StatusOr<Plan> ReadPlanInput(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  if (LooksLikePlanFile(file->bytes())) return ReadPlan(path);
  return ParsePlan(TextOf(*file), path, OpSet::BuiltIn());
}

absl::StatusOr<bool> IsPlan(const std::string& path) {
  if (absl::EndsWith(path, ".plan")) return true;  // perhaps a damaged one
  if (absl::StartsWith(path, "builtin:") || absl::EndsWith(path, ".graph") ||
      absl::EndsWith(path, ".onnx")) {
    return false;
  }
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  if (LooksLikePlanFile(file->bytes())) return true;
  const absl::string_view text = TextOf(*file);
  return absl::StartsWith(text, "plan @") ||
         absl::StrContains(text, "\nplan @");
}

std::string PlanText(const Plan& plan) {
  return PrintPlan(plan, {.comments = true, .reasons = true});
}

}  // namespace partita
