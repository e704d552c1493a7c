// Finds a command's node, port or event.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/command_titles.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

std::string PortName(const std::vector<Port>& ports, int port) {
  if (port < 0 || port >= static_cast<int>(ports.size())) return "?";
  return ports[port].name;
}

}  // namespace

CommandTitles::CommandTitles(const Plan& plan, const Entry& entry)
    : entry_(entry), names_(plan, entry) {}

std::string CommandTitles::TitleOf(const Command& command) const {
  const std::string kind(CommandKindName(command.kind));
  switch (command.kind) {
    case Command::Kind::kRecord:
    case Command::Kind::kWait:
      return absl::StrCat(kind, " ev", command.event.index);
    case Command::Kind::kFeed:
      return absl::StrCat(kind, " ", PortName(entry_.inputs, command.port));
    case Command::Kind::kFetch:
      return absl::StrCat(kind, " ", PortName(entry_.outputs, command.port));
    default:
      break;
  }
  const std::string node = NodeOf(command);
  return node.empty() ? kind : node;
}

std::string CommandTitles::NodeOf(const Command& command) const {
  const NodeId id = command.instance.node;
  if (entry_.graph == nullptr || !id.valid() ||
      id.index >= entry_.graph->node_id_bound() || !entry_.graph->alive(id)) {
    return "";
  }
  const OpView node = entry_.graph->view(id);
  const std::optional<CollectiveKind> collective =
      command.kind == Command::Kind::kCollective ? CollectiveOf(node)
                                                 : std::nullopt;
  const std::string op(collective.has_value() ? CollectiveName(*collective)
                                              : node.op_name());
  return node.num_results() == 0 ? op : absl::StrCat(op, " ", names_.node(id));
}

}  // namespace partita
