// Reads the model and the options of a plan's compilation.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/plan_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/options/placing_flags.h"
#include "tools/partita/model_input.h"

namespace partita {

absl::Status CheckHasModel(const Arguments& arguments) {
  if (arguments.has("model")) return absl::OkStatus();
  for (const FlagDef& flag : kPlanSourceFlags) {
    if (!arguments.has(flag.name)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag.name,
                     ": found without --model; expected --model MODEL, "
                     "which this flag is about"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PlanSource> ReadPlanSource(const Arguments& arguments,
                                          Progress& progress) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  progress.Stage("import");
  PARTITA_ASSIGN_OR_RETURN(
      Module model,
      ReadModel(arguments.WithOperand(arguments.Get("model", ""))));
  return PlanSource{std::move(model), std::move(options)};
}

}  // namespace partita
