// One entry of a plan with its schedule expanded.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/entry_view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/text/names.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

// " (add in encoder/layer3)": locates a value without a name.
std::string MadeBy(const Graph& graph, ValueId id) {
  const NodeId maker = graph.value(id).defining_node;
  if (!maker.valid()) return " (an input)";
  const std::string& scope = graph.node(maker).scope;
  return absl::StrCat(" (", graph.view(maker).op_name(),
                      scope.empty() ? "" : " in ", scope, ")");
}

}  // namespace

int64_t StatedBlocks(const EntryView& view, const Command& command) {
  int64_t blocks = 0;
  for (const auto* list : {&command.operands, &command.results}) {
    for (BufferId id : *list) blocks += NumBlocks(view.buffer(id).range);
  }
  return blocks;
}

int64_t MaxVisits(const EntryView& view) {
  constexpr int64_t kAlways = int64_t{1} << 22;
  constexpr int64_t kOfCommand = 64;
  constexpr int64_t kOfBlock = 8;
  int64_t visits = kAlways + kOfCommand * view.commands.size();
  for (const Command& command : view.commands) {
    visits += kOfBlock * StatedBlocks(view, command);
  }
  return visits;
}

void EntryView::SetCommands(CommandList expanded) {
  commands = std::move(expanded);
  places = CommandPlaces(*entry);
  num_micro_batches = 1;
  for (const Command& command : commands) {
    const int number = command.instance.micro_batch.index;
    if (number >= kMaxPlanNumber) continue;
    num_micro_batches = std::max(num_micro_batches, number + 1);
  }
}

void EntryView::DropCommands() {
  commands = {};
  places = {};
}

std::string EntryView::ValueText(ValueId id) const {
  return absl::StrCat(
      "%", ValueNames(graph())[id.index],
      graph().value(id).name.empty() ? MadeBy(graph(), id) : "");
}

std::string EntryView::NodeText(NodeId id) const {
  const OpView op = graph().view(id);
  if (op.num_results() == 0) return std::string(op.op_name());
  return absl::StrCat(op.op_name(), " ", ValueText(op.result(0).id()));
}

std::string EntryView::BufferText(BufferId id) const {
  const Buffer& named = buffer(id);
  return absl::StrCat(device(named.device).traits.name, " !",
                      named.name.empty() ? absl::StrCat(id.index) : named.name);
}

std::string EntryView::StreamText(StreamId id) const {
  const Stream& stream = entry->streams[id.index];
  return absl::StrCat(device(stream.device).traits.name, "/", stream.name);
}

std::string EntryView::BytesText(const Buffer& buffer, ByteSpan bytes,
                                 int copy) const {
  const int64_t part = PartBegin(device(buffer.device), buffer, copy);
  return absl::StrCat(buffer.persistent ? "persistent " : "", "bytes ",
                      bytes.begin - part, "..", bytes.end - part);
}

std::string EntryView::Prefix() const {
  if (plan->entries.size() == 1) {
    return absl::StrCat("plan @", plan->name, ": ");
  }
  return absl::StrCat("plan @", plan->name, ": entry @", entry->name, ": ");
}

Finding EntryView::Found(Rule rule, absl::string_view message) const {
  return Found(rule, CommandId(), message);
}

Finding EntryView::Found(Rule rule, CommandId command,
                         absl::string_view message) const {
  Finding finding;
  finding.rule = rule;
  finding.entry = index;
  finding.command = command;
  finding.message = absl::StrCat(Prefix(), message);
  return finding;
}

int64_t PartBegin(const PlanDevice& device, const Buffer& buffer, int copy) {
  if (buffer.persistent) return 0;
  return device.persistent_bytes + copy * device.step_bytes;
}

}  // namespace partita
