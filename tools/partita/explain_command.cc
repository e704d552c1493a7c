// partita explain: why a node is where it is, and what else was possible.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "partita/explain_node.h"
#include "partita/options/placing_flags.h"
#include "runtime/plan/checker/prove_plan.h"
#include "tools/partita/explain_text.h"
#include "tools/partita/model_input.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/plan_machine.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    {"model", "MODEL",
     "the model that the plan was compiled from; the flags of that compilation "
     "have to be given too",
     nullptr, FileUse::kReads, false, nullptr, kModelFiles},
    {"machine", "FILE", "another machine than the plan was made for", nullptr,
     FileUse::kReads, false, nullptr, kMachineFiles},
    {"entry", "NAME", "the entry of the node; default: the one that has it"},
    {"json", nullptr, "report as JSON"},
};
constexpr FlagDef kSkipFlags[] = {
    {"skip", "PASS", "a pass that the compilation left out; repeatable",
     nullptr, FileUse::kNone, true},
};
// Of the compilation.
constexpr auto kCompileFlags =
    JoinFlags(kStrategyNameFlags, kPinFlags, kStrategyFlags, kStepFlags,
              kOverlapFlags, kModelFlags, kSkipFlags);
constexpr auto kFlags = JoinFlags(kOwnFlags, kCompileFlags);
constexpr FlagGroup kGroups[] = {
    {"flags", kOwnFlags},
    {"with --model, the flags of the plan's compilation", kCompileFlags}};

absl::Status CheckHasModel(const Arguments& arguments) {
  if (arguments.has("model")) return absl::OkStatus();
  for (const FlagDef& flag : kCompileFlags) {
    if (!arguments.has(flag.name)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag.name,
                     ": found without --model; expected --model MODEL, "
                     "which this flag is about"));
  }
  return absl::OkStatus();
}

absl::Status PriceByModel(const Plan& plan, const PlanMachine& machine,
                          const PlanNode& node, const Arguments& arguments,
                          Progress& progress, NodeExplanation& explanation) {
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.progress = [&](absl::string_view name) { progress.Stage(name); };
  progress.Stage("import");
  PARTITA_ASSIGN_OR_RETURN(
      Module model,
      ReadModel(arguments.WithOperand(arguments.Get("model", ""))));
  return PriceOptions(plan, machine, node, std::move(model), options,
                      explanation);
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(CheckHasModel(arguments));
  Progress progress("explain");
  progress.Stage("read");
  const std::string& path = arguments.positional()[0];
  PARTITA_ASSIGN_OR_RETURN(const Plan plan, ReadPlanInput(path));
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  PARTITA_ASSIGN_OR_RETURN(const PlanMachine machine,
                           ReadPlanMachine(plan, path, arguments));
  const absl::StatusOr<PlanNode> node =
      FindPlanNode(plan, arguments.positional()[1], arguments.Get("entry", ""));
  if (!node.ok()) return CalledWrongly(node.status().message());
  PARTITA_ASSIGN_OR_RETURN(NodeExplanation explanation,
                           ExplainNode(plan, machine, *node));
  if (arguments.has("model")) {
    PARTITA_RETURN_IF_ERROR(
        PriceByModel(plan, machine, *node, arguments, progress, explanation));
  }
  progress.Done();
  return WriteText("-", arguments.has("json") ? ExplanationJson(explanation)
                                              : ExplanationText(explanation));
}

}  // namespace

const Subcommand kExplainCommand = {
    .name = "explain",
    .usage = "explain PLAN NODE [--model MODEL]",
    .doc =
        "Says why a node of a plan is where it is, and what else was "
        "possible.\n"
        "NODE is a name of the plan's text, as %y or y. With the model, moves "
        "the node to\neach other device, all other nodes where they are, "
        "lowers and simulates that\nplan, and shows its step, memory, "
        "transfers and critical path, or why there is\nnone. Without it, "
        "shows the node's seconds on each device that has a kernel.\nThe "
        "strategy is not asked again, so its flags change nothing.",
    .operand = "plan",
    .reads = kPlanFiles,
    .second_operand = "node",
    .flags = kFlags,
    .groups = kGroups,
    .run = Run,
};

}  // namespace partita
