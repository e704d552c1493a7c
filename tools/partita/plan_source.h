// What a plan was compiled from, for commands that make the plan again with a
// node elsewhere.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_PLAN_SOURCE_H_
#define PARTITA_TOOLS_PARTITA_PLAN_SOURCE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "partita/options/arguments.h"
#include "partita/options/compilation_flags.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"

namespace partita {

inline constexpr FlagDef kPlanModelFlag = {
    "model",
    "MODEL",
    "the model that the plan was compiled from; the flags of that compilation "
    "have to be given too",
    nullptr,
    FileUse::kReads,
    false,
    nullptr,
    kModelFiles,
    BuiltInModels};
// Of kPlanSourceFlags.
inline constexpr char kPlanSourceHeading[] =
    "with --model, the flags of the plan's compilation";

// CalledWrongly for one of kPlanSourceFlags without --model.
absl::Status CheckHasModel(const Arguments& arguments);

struct PlanSource {
  Module model;
  CompileOptions options;
};

// Reads --model and kPlanSourceFlags. `progress` must outlive the options.
// Needs: --model.
absl::StatusOr<PlanSource> ReadPlanSource(const Arguments& arguments,
                                          Progress& progress);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_PLAN_SOURCE_H_
