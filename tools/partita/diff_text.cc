// Writes the difference of two plans.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/diff_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "placement/machine/byte_size.h"
#include "tools/partita/figures_text.h"
#include "tools/partita/json_text.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostPathCommands = 3;

std::string Change(const std::string& from, const std::string& to) {
  return from == to ? from : absl::StrCat(from, " -> ", to);
}

// The longest commands of the path: "matmul %y 12.0 us, ...".
std::string LongestText(const CriticalPath& path) {
  std::vector<PathCommand> commands = path.commands;
  const size_t shown = std::min(kMostPathCommands, commands.size());
  std::stable_sort(commands.begin(), commands.end(),
                   [](const PathCommand& a, const PathCommand& b) {
                     return a.seconds > b.seconds;
                   });
  commands.resize(shown);
  const auto append = [](std::string* out, const PathCommand& command) {
    absl::StrAppend(out, command.title, " ", SecondsText(command.seconds));
  };
  return absl::StrJoin(commands, ", ", append);
}

std::string LongestChange(const CriticalPath& a, const CriticalPath& b) {
  const std::string before = LongestText(a), after = LongestText(b);
  if (before == after) return absl::StrCat("    longest: ", before, "\n");
  return absl::StrCat("    longest before: ", before,
                      "\n    longest after: ", after, "\n");
}

std::string PathChange(const CriticalPath& a, const CriticalPath& b) {
  return absl::StrCat("  critical path: kernels ",
                      SecondsChange(a.kernels, b.kernels), ", transfers ",
                      SecondsChange(a.transfers, b.transfers),
                      ", feeds and fetches ", SecondsChange(a.ports, b.ports),
                      "\n", LongestChange(a, b));
}

std::string FiguresChange(const EntryDiff& entry) {
  return absl::StrCat(
      "  step ", SecondsChange(entry.a.step_seconds, entry.b.step_seconds),
      ", latency ",
      SecondsChange(entry.a.latency_seconds, entry.b.latency_seconds),
      "\n  transfers ",
      Change(TransfersText(entry.a.transfers),
             TransfersText(entry.b.transfers)),
      "\n", PathChange(entry.a.path, entry.b.path));
}

std::string MovedText(const NodeChange& node) {
  std::string text =
      absl::StrCat("    ", node.op, " ", Change(node.a.name, node.b.name), "  ",
                   node.a.placement, " -> ", node.b.placement, "  ",
                   SecondsChange(node.a.seconds, node.b.seconds));
  if (!node.a.reason.empty() || !node.b.reason.empty()) {
    absl::StrAppend(&text, "  because ", Change(node.a.reason, node.b.reason));
  }
  return text + "\n";
}

std::string ComputedText(const NodeChange& node) {
  return absl::StrCat("    ", node.op, " ", Change(node.a.name, node.b.name),
                      "  ", absl::StrJoin(node.arithmetic, ", "), ": ",
                      Change(node.a.kernel, node.b.kernel), " (",
                      Change(node.a.arithmetic, node.b.arithmetic), ")\n");
}

// "  moved 3 nodes of 12" and a line each, but not too many.
template <typename List, typename Line>
std::string ListText(const std::string& head, const List& list, Line line) {
  if (list.empty()) return "";
  std::string text = absl::StrCat("  ", head, "\n");
  const size_t shown = std::min(list.size(), kMostListedNodes);
  for (size_t i = 0; i < shown; ++i) text += line(list[i]);
  if (shown < list.size()) {
    absl::StrAppend(&text, "    and ", list.size() - shown,
                    " more; --json lists all\n");
  }
  return text;
}

std::string NamesText(const std::string& head,
                      const std::vector<std::string>& names) {
  return ListText(
      absl::StrCat(CountText(names.size(), "node"), " ", head), names,
      [](const std::string& name) { return absl::StrCat("    ", name, "\n"); });
}

std::string EntryText(const EntryDiff& entry) {
  const std::string of = absl::StrCat(" of ", entry.paired);
  return absl::StrCat(
      "entry @", entry.a.name, entry.empty() ? ": no difference\n" : "\n",
      entry.empty() ? "" : FiguresChange(entry),
      ListText(
          absl::StrCat("moved ", CountText(entry.moved.size(), "node"), of),
          entry.moved, MovedText),
      ListText(absl::StrCat("other arithmetic in ",
                            CountText(entry.computed.size(), "node"), of),
               entry.computed, ComputedText),
      NamesText("only in the first plan", entry.only_a),
      NamesText("only in the second plan", entry.only_b));
}

std::string ArenaText(const std::optional<ArenaFigures>& arena) {
  return arena.has_value() ? RoundedByteSize(arena->arena) : "not used";
}

std::string DevicesText(const PlanDiff& diff) {
  std::string text = "memory\n";
  for (const DeviceDiff& device : diff.devices) {
    absl::StrAppend(&text, "  ", device.device, "  ",
                    device.a.has_value() && device.b.has_value()
                        ? BytesChange(device.a->arena, device.b->arena)
                        : Change(ArenaText(device.a), ArenaText(device.b)),
                    "\n");
  }
  return text;
}

std::string EntriesText(const std::string& which,
                        const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return absl::StrCat("entries only in the ", which,
                      " plan: ", absl::StrJoin(names, ", "), "\n");
}

Json StateJson(const PlacedNodeState& state) {
  return {{"node", state.name},     {"placement", state.placement},
          {"kernel", state.kernel}, {"arithmetic", state.arithmetic},
          {"reason", state.reason}, {"seconds", state.seconds}};
}

Json ChangesJson(const std::vector<NodeChange>& changes) {
  Json json = Json::array();
  for (const NodeChange& change : changes) {
    json.push_back({{"op", change.op},
                    {"first", StateJson(change.a)},
                    {"second", StateJson(change.b)},
                    {"arithmetic", change.arithmetic}});
  }
  return json;
}

Json EntryJson(const EntryDiff& entry) {
  return {{"entry", entry.a.name},
          {"first", EntryFiguresJson(entry.a)},
          {"second", EntryFiguresJson(entry.b)},
          {"paired_nodes", entry.paired},
          {"moved", ChangesJson(entry.moved)},
          {"other_arithmetic", ChangesJson(entry.computed)},
          {"only_first", entry.only_a},
          {"only_second", entry.only_b}};
}

Json DeviceJson(const DeviceDiff& device) {
  return {{"device", device.device},
          {"first", device.a.has_value() ? ArenaJson(*device.a) : Json()},
          {"second", device.b.has_value() ? ArenaJson(*device.b) : Json()}};
}

}  // namespace

std::string DiffText(const PlanDiff& diff) {
  if (diff.empty()) {
    return "no difference: the same nodes, devices, arithmetics and figures\n";
  }
  std::string text = absl::StrCat(
      "plan ",
      Change(absl::StrCat("@", diff.name_a), absl::StrCat("@", diff.name_b)),
      ", machine ", Change(diff.machine_a, diff.machine_b), "\n");
  for (const EntryDiff& entry : diff.entries) text += EntryText(entry);
  return absl::StrCat(text, EntriesText("first", diff.entries_only_a),
                      EntriesText("second", diff.entries_only_b),
                      DevicesText(diff));
}

std::string DiffJson(const PlanDiff& diff) {
  Json json = {{"equal", diff.empty()},
               {"first", {{"plan", diff.name_a}, {"machine", diff.machine_a}}},
               {"second", {{"plan", diff.name_b}, {"machine", diff.machine_b}}},
               {"entries", Json::array()},
               {"entries_only_first", diff.entries_only_a},
               {"entries_only_second", diff.entries_only_b},
               {"devices", Json::array()}};
  for (const EntryDiff& entry : diff.entries) {
    json["entries"].push_back(EntryJson(entry));
  }
  for (const DeviceDiff& device : diff.devices) {
    json["devices"].push_back(DeviceJson(device));
  }
  return JsonText(json);
}

}  // namespace partita
