// partita explain: why a node is where it is, and what else was possible.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "graph/status_macros.h"
#include "partita/explain_node.h"
#include "partita/options/compilation_flags.h"
#include "runtime/plan/checker/prove_plan.h"
#include "tools/partita/explain_text.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/plan_machine.h"
#include "tools/partita/plan_source.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kOwnFlags[] = {
    kPlanModelFlag,
    {"machine", "FILE", "another machine than the plan was made for", nullptr,
     FileUse::kReads, false, nullptr, kMachineFiles},
    {"entry", "NAME", "the entry of the node; default: the one that has it"},
    {"json", nullptr, "report as JSON"},
};
constexpr auto kFlags = JoinFlags(kOwnFlags, kPlanSourceFlags);
constexpr FlagGroup kGroups[] = {{"flags", kOwnFlags},
                                 {kPlanSourceHeading, kPlanSourceFlags}};

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
    PARTITA_ASSIGN_OR_RETURN(PlanSource source,
                             ReadPlanSource(arguments, progress));
    PARTITA_RETURN_IF_ERROR(PriceOptions(plan, machine, *node,
                                         std::move(source.model),
                                         source.options, explanation));
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
        "NODE is a name of the plan's text, as %y or y. The placements that "
        "it shows are\neach device alone and, over the largest set of equal "
        "devices, the whole node on\neach and the node split along each "
        "dimension that can be. With the model, moves\nthe node there, all "
        "other nodes where they are, lowers and simulates that plan,\nand "
        "shows its step, memory, transfers and critical path, or why there is "
        "none.\nWithout it, shows the node's seconds where it has a kernel. "
        "The strategy is not\nasked again, so its flags change nothing.",
    .operand = "plan",
    .reads = kPlanFiles,
    .second_operand = "node",
    .flags = kFlags,
    .groups = kGroups,
    .run = Run,
};

}  // namespace partita
