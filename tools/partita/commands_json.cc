// Writes the declarations of commands and flags.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/commands_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/partita/flags_help.h"
#include "tools/partita/json_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> ValuesOf(const FlagDef& flag) {
  if (flag.choices != nullptr) return flag.choices();
  return flag.offers == nullptr ? std::vector<std::string>() : flag.offers();
}

Json FlagJson(const FlagDef& flag) {
  return {{"name", flag.name},
          {"value", flag.value == nullptr ? Json() : Json(flag.value)},
          {"doc", FlagDoc(flag)},
          {"values", ValuesOf(flag)},
          {"file", flag.file != FileUse::kNone}};
}

Json GroupJson(const FlagGroup& group) {
  Json flags = Json::array();
  for (const FlagDef& flag : group.flags) flags.push_back(FlagJson(flag));
  return {{"heading", group.heading}, {"flags", flags}};
}

Json CommandJson(const Subcommand& command) {
  Json groups = Json::array();
  for (const FlagGroup& group : command.groups) {
    groups.push_back(GroupJson(group));
  }
  if (groups.empty()) groups.push_back(GroupJson({"flags", command.flags}));
  const bool has_offers = command.offers != nullptr;
  return {{"name", command.name},
          {"usage", command.usage},
          {"doc", command.doc},
          {"operands", has_offers ? Json(command.offers()) : Json::array()},
          {"groups", groups}};
}

}  // namespace

std::string CommandsJson(absl::string_view summary,
                         absl::Span<const Subcommand* const> commands) {
  Json json = {{"summary", std::string(summary)}, {"commands", Json::array()}};
  for (const Subcommand* command : commands) {
    json["commands"].push_back(CommandJson(*command));
  }
  return JsonText(json);
}

}  // namespace partita
