// Form of divided variables: every part of what is updated is kept somewhere.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/text/sharding_text.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/pieces.h"

namespace partita {
namespace {

// One way of dividing a variable: its name, type, sharding and members.
using Division = std::tuple<std::string, std::string, std::string, int>;

struct Parts {
  const EntryView* view = nullptr;
  NodeId node;  // a variable that is divided so
  std::vector<bool> kept;
};

absl::flat_hash_set<std::string> UpdatedVariables(
    const std::vector<EntryView>& views) {
  absl::flat_hash_set<std::string> updated;
  for (const EntryView& view : views) {
    for (const VariableUpdate& update : view.graph().updates()) {
      updated.insert(update.variable);
    }
  }
  return updated;
}

void CheckKept(const Parts& parts, Findings& findings) {
  const OpView variable = parts.view->graph().view(parts.node);
  const Sharding sharding = ResultSharding(variable.node(), 0);
  const int members = static_cast<int>(parts.kept.size());
  for (int member = 0; member < members; ++member) {
    const TensorType part =
        PieceType(variable.result_type(0), sharding, member, members);
    if (parts.kept[member] || part.num_bytes() == 0) continue;
    findings.Add(parts.view->Found(
        Rule::kPersistent, -1,
        absl::StrCat("variable ", variable.attr_string("name"), " (",
                     ShardingText(sharding), " over ", members,
                     " devices): found no persistent range for part ", member,
                     ", ", part.ToString(),
                     "; expected one for every part, "
                     "as what becomes of the others is lost; keep it on ",
                     variable.node().placement.devices[member])));
  }
}

}  // namespace

void CheckParts(const std::vector<EntryView>& views, Findings& findings) {
  const absl::flat_hash_set<std::string> updated = UpdatedVariables(views);
  std::map<Division, Parts> divided;
  for (const EntryView& view : views) {
    for (const PersistentValue& value : view.entry->persistent) {
      const OpView node = view.graph().view(value.node);
      if (!node.is(kVariable)) continue;
      std::string name(node.attr_string("name"));
      const Sharding sharding = ResultSharding(node.node(), 0);
      if (!updated.contains(name) || sharding.kind != Sharding::Kind::kSplit) {
        continue;
      }
      const int members = NumMembers(node.node().placement);
      Parts& parts = divided[{std::move(name), node.result_type(0).ToString(),
                              ShardingText(sharding), members}];
      parts.view = &view;
      parts.node = value.node;
      parts.kept.resize(members);
      parts.kept[value.member] = true;
    }
  }
  for (const auto& [division, parts] : divided) CheckKept(parts, findings);
}

}  // namespace partita
