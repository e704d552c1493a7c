// partita leaderboard: the plans of all strategies, compared.
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/leaderboard.h"
#include "partita/options/input_files.h"
#include "partita/options/placing_flags.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/leaderboard_page.h"
#include "tools/partita/leaderboard_text.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    {"page", "FILE", "also write the table as an HTML page", nullptr,
     FileUse::kWrites},
    kCudaLibsFlag,
    {"json", nullptr, "report as JSON"},
};
constexpr auto kFlags =
    JoinFlags(kMachineFlags, kObjectiveFlags, kPinFlags, kStepFlags,
              kOverlapFlags, kModelFlags, kOwnFlags);

absl::Status WritePage(const Leaderboard& board, const Arguments& arguments) {
  if (!arguments.has("page")) return absl::OkStatus();
  return WriteText(arguments.Get("page", ""),
                   LeaderboardPage(board, arguments.positional()[0]));
}

// The table has the reasons; compile also looks for remedies.
absl::Status CheckHasPlan(const Leaderboard& board) {
  if (board.rows[0].refusal.empty()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("machine ", board.machine,
                   ": found no strategy that makes a plan; expected at least "
                   "one; partita compile says what helps"));
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  Progress progress("leaderboard");
  progress.Stage("import");
  PARTITA_ASSIGN_OR_RETURN(const Module module, ReadModel(arguments));
  InputFiles inputs(arguments, kFlags);
  inputs.AddWeights(module.literals());
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  PARTITA_ASSIGN_OR_RETURN(const Leaderboard board,
                           CompareStrategies(module, machine, options));
  progress.Done();
  PARTITA_RETURN_IF_ERROR(WritePage(board, arguments));
  PARTITA_RETURN_IF_ERROR(WriteText("-", arguments.has("json")
                                             ? LeaderboardJson(board)
                                             : LeaderboardText(board)));
  return CheckHasPlan(board);
}

}  // namespace

const Subcommand kLeaderboardCommand = {
    .name = "leaderboard",
    .usage = "leaderboard MODEL --machine FILE [--page FILE]",
    .doc =
        "Compares the plans of all strategies for a model and a machine.\n"
        "One line each, the best first: the predicted step; its gap, the share "
        "that the\nbest of all plans may save; the share of the step in which "
        "the plan's devices\nrun no kernel; the bytes that a step moves "
        "between devices; the memory of each\ndevice; and how long planning "
        "took. A strategy that makes no plan says why.\nGenerates no code and "
        "proves nothing.",
    .operand = "model",
    .reads = kModelFiles,
    .flags = kFlags,
    .offers = BuiltInModels,
    .run = Run,
};

}  // namespace partita
