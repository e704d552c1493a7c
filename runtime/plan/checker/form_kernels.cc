// Form of kernel commands: operands, results and workspace fit the node.
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/kernel_catalog.h"
#include "runtime/plan/checker/command_form.h"
#include "runtime/plan/checker/shards.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

void CheckWorkspace(CommandForm& form) {
  const Command& command = form.command();
  const std::optional<KernelBinding>& kernel = form.node().node().kernel;
  const int64_t wanted = kernel.has_value() ? kernel->workspace : 0;
  const int64_t found = command.workspace.valid()
                            ? form.view().buffer(command.workspace).range.size()
                            : 0;
  if (found < wanted) {
    form.Add(Rule::kSize,
             absl::StrCat("found ", found, " bytes of workspace; expected ",
                          wanted, " for ", kernel->kernel.ToString(),
                          "; enlarge the buffer"));
  }
  if (found > 0 && NumBlocks(form.view().buffer(command.workspace).range) > 1) {
    form.Add(
        Rule::kSize,
        "found workspace in blocks; expected one block; use another buffer");
  }
  if (found > 0) form.ExpectAligned(command.workspace, kWorkspaceAlignment);
}

// The node computes, in this micro-batch, and the command has as many operands
// and results.
bool ComputesNode(CommandForm& form) {
  const Command& command = form.command();
  const OpView op = form.node();
  if (op.is(kConstant) || op.is(kVariable) || IsCopy(op) || op.is(kBucket)) {
    form.Add(Rule::kShape, absl::StrCat("found ", form.NodeText(),
                                        "; expected a node that computes; name "
                                        "another"));
    return false;
  }
  if (op.is(kAccumulate) && command.instance.micro_batch == kFirstMicroBatch) {
    form.Add(Rule::kWrongValue,
             absl::StrCat("found ", form.NodeText(),
                          " in micro-batch 0, whose "
                          "operand is the first sum; expected it in the later "
                          "ones only; drop the command"));
    return false;
  }
  const size_t operands = op.node().operands.size() + op.is(kAccumulate);
  if (command.operands.size() != operands ||
      command.results.size() != op.node().results.size()) {
    form.Add(Rule::kShape,
             absl::StrCat("found ", command.operands.size(), " operands and ",
                          command.results.size(), " results; expected the ",
                          operands, " and ", op.num_results(), " of ",
                          form.NodeText(), "; name one buffer for each"));
    return false;
  }
  return true;
}

}  // namespace

void CheckKernelForm(CommandForm& form) {
  if (!ComputesNode(form)) return;
  const Command& command = form.command();
  const OpView op = form.node();
  form.CheckOwnDevice();
  const int rank = command.instance.rank;
  for (int i = 0; i < op.num_operands(); ++i) {
    form.ExpectValue(command.operands[i], op.operand(i).id(),
                     OperandSharding(op.node(), i), rank);
  }
  if (op.is(kAccumulate)) {
    form.ExpectValue(command.operands[1], op.result(0).id(),
                     ResultSharding(op.node(), 0), rank);
  }
  for (int i = 0; i < op.num_results(); ++i) {
    form.ExpectValue(command.results[i], op.result(i).id(),
                     ResultSharding(op.node(), i), rank);
  }
  CheckWorkspace(form);
}

}  // namespace partita
