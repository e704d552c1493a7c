// Reads plans.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/plan_input.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_text.h"

namespace partita {

namespace {

absl::string_view TextOf(const MappedFile& file) {
  return absl::string_view(reinterpret_cast<const char*>(file.bytes().data()),
                           file.bytes().size());
}

// A line begins with `start`.
bool HasLine(absl::string_view text, absl::string_view start) {
  return absl::StartsWith(text, start) ||
         absl::StrContains(text, absl::StrCat("\n", start));
}

// Exporters begin a ModelProto with its field 1, the version of the format.
bool LooksLikeOnnx(const std::string& path, absl::string_view text) {
  return absl::EndsWith(path, ".onnx") ||
         (text.size() > 2 && text[0] == 8 && text[1] > 0 && text[1] < 32);
}

absl::Status NoPlan(const std::string& path, absl::string_view text) {
  const char* model = LooksLikeOnnx(path, text)  ? "an ONNX model"
                      : HasLine(text, "graph @") ? "a graph"
                                                 : nullptr;
  if (model == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found no plan; expected a file that `partita ",
                     "compile` wrote, or the text of a plan"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": found ", model, ", no plan; compile it first: ",
                   "partita compile ", path, " --output FILE.plan"));
}

}  // namespace

absl::StatusOr<Plan> ReadPlanInput(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  if (LooksLikePlanFile(file->bytes())) return ReadPlan(path);
  const absl::string_view text = TextOf(*file);
  if (!HasLine(text, "plan @")) return NoPlan(path, text);
  return ParsePlan(text, path, OpSet::BuiltIn());
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
  return HasLine(TextOf(*file), "plan @");
}

std::string PlanText(const Plan& plan) {
  return PrintPlan(plan, {.comments = true, .reasons = true});
}

}  // namespace partita
