// Makes the names of a plan unique.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_names.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text/names.h"
#include "runtime/plan/plan_line.h"

namespace partita {
namespace {

template <typename Id>
std::string Look(const std::vector<std::string>& names, Id id,
                 absl::string_view sigil) {
  if (!id.valid() || static_cast<size_t>(id.index) >= names.size() ||
      names[id.index].empty()) {
    return absl::StrCat(sigil, "?", id.index);
  }
  return names[id.index];
}

// "(a, b)", each spelled by `spell`.
template <typename Id, typename Spell>
std::string InParentheses(const std::vector<Id>& ids, Spell spell) {
  const auto append = [&](std::string* out, Id id) { out->append(spell(id)); };
  return absl::StrCat("(", absl::StrJoin(ids, ", ", append), ")");
}

}  // namespace

std::vector<std::string> UniqueNames(const std::vector<std::string>& names) {
  absl::flat_hash_set<std::string> taken;
  // The next suffix to try, so that a thousand equal names stay cheap.
  absl::flat_hash_map<std::string, int> next;
  std::vector<std::string> unique;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string wish = names[i].empty() ? absl::StrCat(i) : names[i];
    std::string name = wish;
    while (!taken.insert(name).second) {
      name = absl::StrCat(wish, ".", ++next[wish]);
    }
    unique.push_back(std::move(name));
  }
  return unique;
}

std::vector<std::string> ProgramNames(const Entry& entry) {
  std::vector<std::string> names;
  for (const Program& program : entry.programs) names.push_back(program.name);
  names = UniqueNames(names);
  for (std::string& name : names) name = SpellName(name);
  return names;
}

std::vector<std::string> DeviceNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanDevice& device : plan.devices) {
    names.push_back(device.traits.name);
  }
  names = UniqueNames(names);
  for (std::string& name : names) name = SpellName(name);
  return names;
}

std::vector<std::string> NodeNames(const Graph& graph) {
  const std::vector<std::string> values = ValueNames(graph);
  std::vector<NodeId> nodes;
  std::vector<std::string> wishes;
  for (NodeId id : graph.order()) {
    const ValueIds& results = graph.node(id).results;
    if (results.empty()) continue;
    const std::string& text = values[results[0].index];
    nodes.push_back(id);
    wishes.push_back(Unquoted(text).value_or(text));
  }
  const std::vector<std::string> unique = UniqueNames(wishes);
  std::vector<std::string> names(graph.node_id_bound());
  for (size_t i = 0; i < nodes.size(); ++i) names[nodes[i].index] = unique[i];
  return names;
}

EntryNames::EntryNames(const Plan& plan, const Entry& entry) {
  if (entry.graph != nullptr) nodes_ = NodeNames(*entry.graph);
  for (std::string& name : nodes_) {
    if (!name.empty()) name = SpellSigilName('%', name);
  }
  for (const Buffer& buffer : entry.buffers) buffers_.push_back(buffer.name);
  buffers_ = UniqueNames(buffers_);
  for (std::string& name : buffers_) name = SpellSigilName('!', name);
  const std::vector<std::string> devices = DeviceNames(plan);
  // Names are unique on each device; the prefix distinguishes devices.
  std::vector<std::string> names;
  for (const Stream& stream : entry.streams) {
    names.push_back(absl::StrCat(stream.device.index, "/", stream.name));
  }
  names = UniqueNames(names);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i].substr(names[i].find('/') + 1);
    streams_.push_back(absl::StrCat(Look(devices, entry.streams[i].device, ""),
                                    "/", SpellName(name)));
  }
}

std::string EntryNames::node(NodeId id) const { return Look(nodes_, id, "%"); }

std::string EntryNames::buffer(BufferId id) const {
  if (id.index >= kFirstSlot) {
    return absl::StrCat("$", id.index - kFirstSlot);
  }
  return Look(buffers_, id, "!");
}

std::string EntryNames::event(EventId id) const {
  if (id.index >= kFirstSlot) {
    return absl::StrCat("slot", id.index - kFirstSlot);
  }
  return id.valid() ? absl::StrCat("ev", id.index)
                    : absl::StrCat("?", id.index);
}

std::string EntryNames::stream(StreamId id) const {
  return Look(streams_, id, "");
}

std::string EntryNames::buffers(const std::vector<BufferId>& ids) const {
  return InParentheses(ids, [this](BufferId id) { return buffer(id); });
}

std::string EntryNames::events(const std::vector<EventId>& ids) const {
  return InParentheses(ids, [this](EventId id) { return event(id); });
}

}  // namespace partita
