// Reads plans.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/plan_input.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "partita/options/recognize_file.h"
#include "runtime/plan/plan_text.h"

namespace partita {

absl::StatusOr<Plan> ReadPlanInput(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const absl::string_view bytes(
      reinterpret_cast<const char*>(file->bytes().data()),
      file->bytes().size());
  switch (KindOfBytes(bytes)) {
    case FileKind::kPlan:
      return ReadPlan(path);
    case FileKind::kPlanText:
      return ParsePlan(bytes, path, OpSet::BuiltIn());
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": found no plan; expected a file that `partita ",
                       "compile` wrote, or the text of a plan"));
  }
}

absl::StatusOr<bool> IsPlan(const std::string& path) {
  if (absl::StartsWith(path, "builtin:")) return false;
  PARTITA_RETURN_IF_ERROR(MappedFile::Open(path).status());
  return kPlanFiles.has(KindOfFile(path));
}

std::string PlanText(const Plan& plan) {
  return PrintPlan(plan, {.comments = true, .reasons = true});
}

}  // namespace partita
