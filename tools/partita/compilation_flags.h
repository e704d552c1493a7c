// The flags of the compilation that a plan comes from, for commands that make
// the plan again with a node elsewhere.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_COMPILATION_FLAGS_H_
#define PARTITA_TOOLS_PARTITA_COMPILATION_FLAGS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "tools/partita/arguments.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/placing_flags.h"

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
    kModelFiles};

inline constexpr FlagDef kSkippedPassFlags[] = {
    {"skip", "PASS", "a pass that the compilation left out; repeatable",
     nullptr, FileUse::kNone, true},
};
inline constexpr auto kCompilationFlags =
    JoinFlags(kStrategyNameFlags, kPinFlags, kStrategyFlags, kStepFlags,
              kOverlapFlags, kModelFlags, kSkippedPassFlags);
inline constexpr char kCompilationHeading[] =
    "with --model, the flags of the plan's compilation";

// CalledWrongly for a flag of the compilation without --model.
absl::Status CheckHasModel(const Arguments& arguments);

// What the plan was compiled from.
struct PlanSource {
  Module model;
  CompileOptions options;
};

// Reads --model and the flags of the compilation. `progress` must outlive the
// options. Needs: --model.
absl::StatusOr<PlanSource> ReadPlanSource(const Arguments& arguments,
                                          Progress& progress);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_COMPILATION_FLAGS_H_
