// Resolves names in an entry's text to ids.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/entry_scope.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_limits.h"
#include "runtime/plan/plan_names.h"

namespace partita {

void EntryScope::DefineNodes() {
  const std::vector<std::string> names = NodeNames(*entry_.graph);
  for (NodeId id : entry_.graph->order()) {
    if (!names[id.index].empty()) nodes_.emplace(names[id.index], id);
  }
}

void EntryScope::DefineEvents(int count) {
  entry_.num_events = count;
  events_given_ = true;
}

bool EntryScope::DefineBuffer(const std::string& name) {
  const BufferId id(static_cast<int32_t>(entry_.buffers.size()));
  return buffers_.emplace(name, id).second;
}

DeviceId EntryScope::FindDevice(PlanLine& line) const {
  const std::string name = line.Name("a device");
  const auto it = devices_.find(name);
  if (it != devices_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown device ", SpellName(name)));
  return DeviceId();
}

EntryScope::StreamName EntryScope::ReadStream(PlanLine& line) const {
  const DeviceId device = FindDevice(line);
  line.Expect("/");
  return {device, line.Name("a stream of the device")};
}

StreamId EntryScope::FindStream(PlanLine& line) const {
  const StreamName name = ReadStream(line);
  if (!line.ok()) return StreamId();
  const auto it = streams_.find(name);
  if (it != streams_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown stream ", SpellName(name.second)));
  return StreamId();
}

StreamId EntryScope::FindOrDeclareStream(PlanLine& line) {
  StreamName name = ReadStream(line);
  if (!line.ok()) return StreamId();
  const StreamId next(static_cast<int32_t>(entry_.streams.size()));
  const auto [it, declared] = streams_.emplace(std::move(name), next);
  if (declared) entry_.streams.push_back({it->first.second, it->first.first});
  return it->second;
}

NodeId EntryScope::FindNode(PlanLine& line) const {
  const std::string name = line.Sigil('%', "a node's first result");
  if (!line.ok()) return NodeId();
  const auto it = nodes_.find(name);
  if (it != nodes_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown node ", SpellSigilName('%', name)),
                "expected the first result of a node of the entry's graph");
  return NodeId();
}

BufferId EntryScope::FindBuffer(PlanLine& line, const Program* program) const {
  if (program != nullptr && line.NextIsSigil('$')) {
    const int64_t slot = line.SigilNumber('$', program->num_buffer_slots);
    return BufferId(static_cast<int32_t>(kFirstSlot + slot));
  }
  const std::string name = line.Sigil('!', "a buffer");
  if (!line.ok()) return BufferId();
  const auto it = buffers_.find(name);
  if (it != buffers_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown buffer ", SpellSigilName('!', name)),
                "expected a buffer of the entry's arenas");
  return BufferId();
}

std::vector<BufferId> EntryScope::FindBuffers(PlanLine& line,
                                              const Program* program) const {
  if (!line.NextIs("(")) return {FindBuffer(line, program)};
  std::vector<BufferId> buffers;
  line.ReadList("(", ")",
                [&] { buffers.push_back(FindBuffer(line, program)); });
  return buffers;
}

EventId EntryScope::FindEvent(PlanLine& line, const Program* program) {
  if (program != nullptr && program->num_event_slots > 0 &&
      line.NextStartsWith("slot")) {
    const int64_t slot = line.Numbered("slot", program->num_event_slots);
    return EventId(static_cast<int32_t>(kFirstSlot + slot));
  }
  const int64_t bound = events_given_ ? entry_.num_events : kMaxPlanEvents;
  const int64_t event = line.Numbered("ev", bound);
  if (!line.ok()) return EventId();
  entry_.num_events = std::max(entry_.num_events, static_cast<int>(event) + 1);
  return EventId(static_cast<int32_t>(event));
}

}  // namespace partita
