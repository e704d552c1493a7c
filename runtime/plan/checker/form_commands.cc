// Form of each command: its ids and its node exist, and it fits its kind.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/command_form.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/ports.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

using Kind = Command::Kind;

constexpr int32_t kLeftOut = -1;  // the command does not set it

// Keeps the first fault.
class IdFault {
 public:
  void Expect(absl::string_view what, int32_t id, size_t count,
              absl::string_view remedy = "change the command") {
    if (!text_.empty() || InBounds(id, count)) return;
    text_ = absl::StrCat("found ",
                         id == kLeftOut ? absl::StrCat("no ", what)
                                        : absl::StrCat(what, " ", id),
                         "; expected one of the ", count, " that exist; ",
                         id == kLeftOut ? remedy : "change the command");
  }
  // Expects a number that the command's text writes after the word `what`.
  void ExpectNumber(absl::string_view what, int32_t id, size_t count) {
    Expect(what, id, count,
           absl::StrCat("add its number to the command, as in `", what, " 0`"));
  }
  void ExpectBuffers(const std::vector<BufferId>& ids, size_t count) {
    for (BufferId id : ids) Expect("buffer", id.index, count);
  }
  void ExpectLists(const Command& command, size_t operands, size_t results) {
    if (!text_.empty() ||
        (command.operands.size() == operands &&
         command.results.size() == results && !command.workspace.valid())) {
      return;
    }
    text_ = absl::StrCat("found ", command.operands.size(), " operands, ",
                         command.results.size(), " results and ",
                         command.workspace.valid() ? "a" : "no",
                         " workspace; expected ", operands, ", ", results,
                         " and none; change the command");
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// References that only commands of this kind have.
void ExpectOwn(const Entry& entry, const Command& command, IdFault& fault) {
  switch (command.kind) {
    case Kind::kKernel:
      return;
    case Kind::kCopy:
      return fault.ExpectLists(command, 1, 1);
    case Kind::kRecord:
    case Kind::kWait:
      fault.Expect("event", command.event.index, entry.num_events);
      return fault.ExpectLists(command, 0, 0);
    case Kind::kFeed:
      fault.ExpectNumber("input", command.port, entry.inputs.size());
      return fault.ExpectLists(command, 0, 1);
    case Kind::kFetch:
      fault.ExpectNumber("output", command.port, entry.outputs.size());
      return fault.ExpectLists(command, 1, 0);
    case Kind::kCollective: {
      fault.ExpectNumber("group", command.group.index, entry.groups.size());
      // The node determines how many operands and results its rank has.
      const size_t operands = command.operands.size();
      const size_t results = command.results.size();
      return fault.ExpectLists(command, operands,
                               std::max<size_t>(operands == 0, results));
    }
    case Kind::kSend:
      fault.ExpectNumber("channel", command.channel.index,
                         entry.channels.size());
      return fault.ExpectLists(command, 1, 0);
    case Kind::kRecv:
      fault.ExpectNumber("channel", command.channel.index,
                         entry.channels.size());
      return fault.ExpectLists(command, 0, 1);
  }
  fault.Expect("kind", static_cast<int32_t>(command.kind),
               static_cast<size_t>(Kind::kRecv) + 1);
}

// Returns "", or a message about the first reference that does not exist, or
// that this kind of command must not have. Does not look at nodes.
std::string FaultInIds(const EntryView& view, const Command& command) {
  const Entry& entry = *view.entry;
  IdFault fault;
  fault.Expect("stream", command.stream.index, entry.streams.size());
  fault.Expect("micro-batch", command.instance.micro_batch.index,
               kMaxPlanNumber);
  fault.ExpectBuffers(command.operands, entry.buffers.size());
  fault.ExpectBuffers(command.results, entry.buffers.size());
  if (command.workspace.valid()) {
    fault.Expect("buffer", command.workspace.index, entry.buffers.size());
  }
  ExpectOwn(entry, command, fault);
  return fault.Take();
}

bool NodeExists(CommandForm& form) {
  const Graph& graph = form.view().graph();
  const Instance& instance = form.command().instance;
  const NodeId id = instance.node;
  if (!id.valid()) {
    form.Add(Rule::kShape,
             "found no node; expected one of the bound graph; name it by its "
             "first result, as in `%y`");
    return false;
  }
  if (!InBounds(id.index, graph.node_id_bound()) || !graph.alive(id)) {
    form.Add(Rule::kShape,
             absl::StrCat("found node ", id.index,
                          "; expected one of the bound graph; name another"));
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
void CheckCommand(const EntryView& view, CommandId c, const PortSlices& ports,
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

}  // namespace

void CheckCommands(const EntryView& view, Findings& findings) {
  const PortSlices ports(view, findings);
  if (!findings.empty()) return;
  int64_t blocks = 0;
  for (CommandId c : view.commands.ids()) {
    CheckCommand(view, c, ports, findings);
    if (findings.full()) return;
    if (!findings.empty()) continue;
    blocks += StatedBlocks(view, view.commands[c]);
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
