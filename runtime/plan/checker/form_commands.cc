// Form of each command: its ids and its node exist, and it fits its kind.
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/command_form.h"
#include "runtime/plan/checker/command_ids.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/ports.h"

namespace partita {
namespace {

using Kind = Command::Kind;

bool InBounds(int32_t id, size_t bound) {
  return id >= 0 && static_cast<size_t>(id) < bound;
}

bool NodeExists(CommandForm& form) {
  const Graph& graph = form.view().graph();
  const Instance& instance = form.command().instance;
  const NodeId id = instance.node;
  if (!id.valid()) {
    form.Add(Rule::kShape,
             "found no node; expected one of the placed graph; name it by its "
             "first result, as in `%y`");
    return false;
  }
  if (!InBounds(id.index, graph.node_id_bound()) || !graph.alive(id)) {
    form.Add(Rule::kShape,
             absl::StrCat("found node ", id.index,
                          "; expected one of the placed graph; name another"));
    return false;
  }
  const size_t ranks = form.NumInstances();
  if (InBounds(instance.rank, ranks)) return true;
  form.Add(Rule::kShape,
           absl::StrCat("found rank ", instance.rank, " of ", form.NodeText(),
                        "; expected one of ", ranks, "; name another"));
  return false;
}

// Checks ids first: all other checks rely on them.
void CheckCommand(const EntryView& view, int c, const PortSlices& ports,
                  Findings& findings) {
  const Command& command = view.commands[c];
  if (const std::string fault = FaultInIds(view, command); !fault.empty()) {
    findings.Add(view.Found(Rule::kShape, c,
                            absl::StrCat(view.places.Text(c), ": ", fault)));
    return;
  }
  CommandForm form(view, c, findings);
  if (form.speaks_of_node() && !NodeExists(form)) return;
  switch (command.kind) {
    case Kind::kKernel:
      return CheckKernelForm(form);
    case Kind::kCopy:
      return CheckCopyForm(form);
    case Kind::kFeed:
    case Kind::kFetch:
      return CheckPortForm(form, ports);
    case Kind::kCollective:
      return CheckCollectiveForm(form);
    case Kind::kSend:
    case Kind::kRecv:
      return CheckMessageForm(form);
    case Kind::kRecord:
    case Kind::kWait:
      return;
  }
}

int64_t BlocksOf(const EntryView& view, const Command& command) {
  int64_t blocks = 0;
  for (BufferId id : command.operands) {
    blocks += NumBlocks(view.buffer(id).range);
  }
  for (BufferId id : command.results) {
    blocks += NumBlocks(view.buffer(id).range);
  }
  return blocks;
}

}  // namespace

void CheckCommands(const EntryView& view, Findings& findings) {
  const PortSlices ports(view, findings);
  if (!findings.empty()) return;
  int64_t blocks = 0;
  for (int c = 0; c < static_cast<int>(view.commands.size()); ++c) {
    CheckCommand(view, c, ports, findings);
    if (findings.full()) return;
    if (!findings.empty()) continue;
    blocks += BlocksOf(view, view.commands[c]);
    if (blocks > kMaxBlocks) {
      findings.Add(view.Found(
          Rule::kRange, c,
          absl::StrCat("found more than ", kMaxBlocks,
                       " blocks in the ranges of all commands; expected fewer; "
                       "shard fewer values along inner dimensions, or compile "
                       "with fewer micro-batches")));
      return;
    }
  }
}

}  // namespace partita
