// Writes the data as JSON and assembles the page.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/html_page.h"

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tools/viewer/layered_layout.h"
#include "tools/viewer/page_parts.h"

namespace partita {
namespace {

using Json = nlohmann::json;

Json OperandsJson(const std::vector<OperandView>& operands) {
  Json list = Json::array();
  for (const OperandView& operand : operands) {
    list.push_back({operand.name, operand.type, operand.box});
  }
  return list;
}

Json IdsJson(const std::vector<CommandId>& ids) {
  Json list = Json::array();
  for (CommandId id : ids) list.push_back(id.index);
  return list;
}

Json BoxJson(const BoxView& box) {
  constexpr const char* kKinds[] = {"node", "input", "output"};
  return {{"kind", kKinds[static_cast<int>(box.kind)]},
          {"name", box.name},
          {"op", box.op},
          {"scope", box.scope},
          {"location", box.location},
          {"devices", box.devices},
          {"reason", box.reason},
          {"kernel", box.kernel},
          {"arithmetic", box.arithmetic},
          {"workspace", box.workspace},
          {"seconds", box.seconds},
          {"operands", OperandsJson(box.operands)},
          {"results", OperandsJson(box.results)},
          {"attributes", box.attributes},
          {"text", box.text},
          {"commands", IdsJson(box.commands)}};
}

Json GroupJson(const LayoutGroup& group) {
  constexpr const char* kKinds[] = {"box", "group", "lane"};
  Json items = Json::array();
  for (const LayoutItem& item : group.items) {
    items.push_back({kKinds[static_cast<int>(item.kind)], item.index});
  }
  Json routes = Json::array();
  for (const LayoutRoute& route : group.routes) {
    routes.push_back({route.from, route.to, route.lanes});
  }
  return {{"name", group.name},       {"parent", group.parent},
          {"boxes", group.num_boxes}, {"devices", group.devices},
          {"items", items},           {"layers", group.layers},
          {"routes", routes}};
}

Json CommandsJson(const ViewedEntry& entry) {
  Json list = Json::array();
  for (const CommandView& command : entry.commands) {
    list.push_back({{"stream", command.stream},
                    {"kind", command.kind},
                    {"title", command.title},
                    {"box", command.box},
                    {"start", command.start},
                    {"end", command.end},
                    {"event", command.event}});
  }
  return list;
}

Json TimesJson(const MeasuredTrace& trace) {
  Json list = Json::array();
  for (const auto& [start, end] : trace.commands) list.push_back({start, end});
  return list;
}

Json MemoryJson(const ViewedEntry& entry) {
  Json list = Json::array();
  for (const MemoryView& memory : entry.memory) {
    list.push_back({{"device", memory.device},
                    {"limit", memory.limit},
                    {"arena", memory.arena},
                    {"persistent", memory.persistent},
                    {"peak", memory.peak},
                    {"points", memory.points}});
  }
  return list;
}

Json TransfersJson(const ViewedEntry& entry) {
  Json list = Json::array();
  for (const TransferView& row : entry.transfers) {
    list.push_back({{"command", row.command.index},
                    {"from", row.from},
                    {"to", row.to},
                    {"value", row.value},
                    {"bytes", row.bytes},
                    {"seconds", row.seconds},
                    {"reason", row.reason},
                    {"hiddenSeconds", row.hidden_seconds},
                    {"hidden", row.hidden}});
  }
  return list;
}

Json EntryJson(const ViewedEntry& entry) {
  Json boxes = Json::array(), edges = Json::array(), groups = Json::array();
  Json streams = Json::array();
  for (const BoxView& box : entry.boxes) boxes.push_back(BoxJson(box));
  for (const EdgeView& edge : entry.edges) {
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"value", edge.value},
                     {"bytes", edge.bytes},
                     {"cut", edge.cut}});
  }
  for (const LayoutGroup& group : LayOut(entry)) {
    groups.push_back(GroupJson(group));
  }
  for (const StreamView& stream : entry.streams) {
    streams.push_back({{"name", stream.name}, {"device", stream.device}});
  }
  return {{"name", entry.name},
          {"depth", entry.depth},
          {"timed", entry.timed},
          {"step", entry.step_seconds},
          {"bound", entry.bound_seconds},
          {"end", entry.end},
          {"boxes", boxes},
          {"edges", edges},
          {"groups", groups},
          {"streams", streams},
          {"commands", CommandsJson(entry)},
          {"commandsLeftOut", entry.commands_left_out},
          {"memory", MemoryJson(entry)},
          {"transfers", TransfersJson(entry)}};
}

}  // namespace

std::string PageJson(const PlanView& plan,
                     const std::vector<MeasuredTrace>& traces) {
  Json devices = Json::array(), entries = Json::array(), steps = Json::array();
  for (const DeviceView& device : plan.devices) {
    devices.push_back({{"name", device.name},
                       {"kind", device.kind},
                       {"memory", device.memory}});
  }
  for (const ViewedEntry& entry : plan.entries) {
    entries.push_back(EntryJson(entry));
  }
  for (const MeasuredTrace& trace : traces) {
    steps.push_back({{"source", trace.source},
                     {"entry", trace.entry},
                     {"end", trace.end},
                     {"commands", TimesJson(trace)}});
  }
  const Json page = {{"name", plan.name},
                     {"summary", plan.summary},
                     {"devices", devices},
                     {"entries", entries},
                     {"traces", steps},
                     {"certificate",
                      {{"checker", plan.certificate.checker},
                       {"hash", plan.certificate.plan_hash},
                       {"proved", plan.certificate.proved},
                       {"assumed", plan.certificate.assumed},
                       {"carried", plan.carried}}}};
  const std::string text = page.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                                     Json::error_handler_t::replace);
  // In JSON these three occur only inside strings.
  return absl::StrReplaceAll(
      text, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

std::string HtmlPage(const PlanView& plan,
                     const std::vector<MeasuredTrace>& traces) {
  return absl::StrReplaceAll(kPageHtml,
                             {{"/*PAGE_CSS*/", kPageCss},
                              {"/*PAGE_JS*/", kPageJs},
                              {"/*PAGE_DATA*/", PageJson(plan, traces)}});
}

}  // namespace partita
