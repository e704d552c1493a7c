// Writes views as columns.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/page_json.h"

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/viewer/layered_layout.h"
#include "tools/viewer/residuals.h"

namespace partita {
namespace {

using Json = nlohmann::json;

// Bodies of fused nodes, of one page.
constexpr size_t kMaxBodyBytes = size_t{4} << 20;
constexpr size_t kMaxResiduals = 2000;
constexpr double kTicks = 1e9;

// A power of ten; `end` is at most kTicks of it. Notes of untrusted plans may
// have any times: a shorter step has no tick that is a normal number.
double TickOf(double end) {
  constexpr double kShortest = 1e-290;
  if (!(end > kShortest)) return 1;
  return std::pow(10, std::ceil(std::log10(end / kTicks)));
}

Json GroupJson(const LayoutGroup& group) {
  Json items = Json::array(), routes = Json::array();
  for (const LayoutItem& item : group.items) {
    items.push_back(static_cast<int>(item.kind));
    items.push_back(item.index);
  }
  for (const LayoutRoute& route : group.routes) {
    routes.push_back({route.from, route.to, route.lanes});
  }
  return {{"name", group.name},       {"parent", group.parent},
          {"boxes", group.num_boxes}, {"devices", group.devices},
          {"items", items},           {"layers", group.layers},
          {"routes", routes}};
}

Json FindingsJson(const std::vector<FindingView>& findings) {
  Json list = Json::array();
  for (const FindingView& finding : findings) {
    list.push_back({{"text", finding.text},
                    {"seconds", finding.seconds},
                    {"device", finding.device},
                    {"box", finding.box},
                    {"link", finding.link},
                    {"command", finding.command.index},
                    {"moment", finding.moment}});
  }
  return list;
}

Json OptionalJson(const std::optional<double>& value) {
  return value.has_value() ? Json(*value) : Json();
}

Json ExplanationsJson(const std::vector<ExplanationView>& explanations) {
  Json list = Json::array();
  for (const ExplanationView& explanation : explanations) {
    Json options = Json::array();
    for (const OptionView& option : explanation.options) {
      options.push_back({{"placement", option.placement},
                         {"present", option.is_present},
                         {"kernel", option.has_kernel},
                         {"refusal", option.refusal},
                         {"seconds", OptionalJson(option.seconds)},
                         {"step", OptionalJson(option.step_seconds)},
                         {"transfers", option.transfers},
                         {"memory", option.memory},
                         {"path", option.path}});
    }
    list.push_back({{"box", explanation.box},
                    {"why", explanation.why},
                    {"constraints", explanation.constraints},
                    {"options", options},
                    {"left_out", explanation.options_left_out}});
  }
  return list;
}

Json LinkLoadsJson(const ViewedEntry& entry) {
  Json list = Json::array();
  for (const std::array<LinkLoad, 2>& both : entry.link_loads) {
    Json link = Json::array();
    for (const LinkLoad& load : both) {
      link.push_back({{"transfers", load.transfers},
                      {"bytes", load.bytes},
                      {"seconds", load.seconds}});
    }
    list.push_back(link);
  }
  return list;
}

Json ArenaJson(const std::optional<ArenaFigures>& arena) {
  if (!arena.has_value()) return Json();
  return {{"arena", arena->arena},
          {"persistent", arena->persistent},
          {"memory", arena->memory}};
}

Json FiguresJson(const EntryFigures& figures) {
  return {{"step", figures.step_seconds},
          {"latency", figures.latency_seconds},
          {"kernels", figures.path.kernels},
          {"transfers", figures.path.transfers},
          {"ports", figures.path.ports},
          {"copies", figures.transfers.copies},
          {"copiedBytes", figures.transfers.copied_bytes},
          {"collectives", figures.transfers.collectives},
          {"collectiveBytes", figures.transfers.collective_bytes}};
}

Json StateJson(const PlacedNodeState& state, int box) {
  return {{"box", box},
          {"name", state.name},
          {"placement", state.placement},
          {"kernel", state.kernel},
          {"arithmetic", state.arithmetic},
          {"reason", state.reason},
          {"seconds", state.seconds}};
}

Json ChangesJson(const std::vector<ChangeView>& changes) {
  Json list = Json::array();
  for (const ChangeView& view : changes) {
    list.push_back({{"op", view.change.op},
                    {"sides",
                     {StateJson(view.change.a, view.box_a),
                      StateJson(view.change.b, view.box_b)}},
                    {"arithmetic", view.change.arithmetic}});
  }
  return list;
}

Json EntryPairJson(const EntryPairView& pair) {
  Json boxes = Json::array();
  for (const auto& [a, b] : pair.boxes) {
    boxes.push_back(a);
    boxes.push_back(b);
  }
  return {{"entries", {pair.entry_a, pair.entry_b}},
          {"figures", {FiguresJson(pair.diff.a), FiguresJson(pair.diff.b)}},
          {"paired", pair.diff.paired},
          {"pairs", boxes},
          {"moved", ChangesJson(pair.moved)},
          {"computed", ChangesJson(pair.computed)},
          {"only", Json::array({pair.diff.only_a, pair.diff.only_b})}};
}

}  // namespace

class PageData::Strings {
 public:
  int Of(const std::string& text) {
    const auto [place, added] =
        known_.emplace(text, static_cast<int>(known_.size()));
    if (added) list_.push_back(text);
    return place->second;
  }
  // True if the page has room for one more body.
  bool HasRoomFor(const std::string& body) {
    if (body.size() > body_room_) return false;
    body_room_ -= body.size();
    return true;
  }
  const Json& list() const { return list_; }

 private:
  absl::flat_hash_map<std::string, int> known_;
  Json list_ = Json::array();
  size_t body_room_ = kMaxBodyBytes;
};

namespace {

// Lists of one length under their names.
class Columns {
 public:
  // Names first, so that an empty table has its lists too.
  explicit Columns(std::initializer_list<const char*> names) {
    for (const char* name : names) json_[name] = Json::array();
  }
  Json& operator[](const char* name) { return json_[name]; }
  Json Take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

// Writes one entry. `Strings` is PageData's.
template <typename Strings>
class EntryWriter {
 public:
  EntryWriter(const ViewedEntry& entry, Strings& strings)
      : entry_(entry), strings_(strings), tick_(TickOf(entry.end)) {}

  Json Write() {
    Json groups = Json::array(), streams = Json::array();
    Json path = Json::array(), memory = Json::array();
    for (const LayoutGroup& group : LayOut(entry_)) {
      groups.push_back(GroupJson(group));
    }
    for (const StreamView& stream : entry_.streams) {
      streams.push_back({{"name", stream.name}, {"device", stream.device}});
    }
    for (const PathStep& step : entry_.path) {
      path.push_back(step.command.index);
      path.push_back(Ticks(step.seconds));
    }
    for (const MemoryView& device : entry_.memory) {
      memory.push_back(MemoryJson(device));
    }
    return {{"name", entry_.name},
            {"timed", entry_.timed},
            {"step", entry_.step_seconds},
            {"bound", entry_.bound_seconds},
            {"end", entry_.end},
            {"tick", tick_},
            {"boxes", BoxesJson()},
            {"deviceSets", device_sets_},
            {"edges", EdgesJson()},
            {"groups", groups},
            {"streams", streams},
            {"commands", CommandsJson()},
            {"commandsLeftOut", entry_.commands_left_out},
            {"path", path},
            {"memory", memory},
            {"transfers", TransfersJson()},
            {"transfersLeftOut", entry_.transfers_left_out},
            {"transferTotals",
             {{"count", entry_.transfer_totals.count},
              {"bytes", entry_.transfer_totals.bytes},
              {"hidden", entry_.transfer_totals.hidden}}},
            {"linkLoads", LinkLoadsJson(entry_)},
            {"findings", FindingsJson(entry_.findings)},
            {"explanations", ExplanationsJson(entry_.explanations)}};
  }

 private:
  int64_t Ticks(double seconds) const {
    return static_cast<int64_t>(std::llround(seconds / tick_));
  }

  int DeviceSet(const std::vector<int>& devices) {
    const auto [place, added] =
        known_sets_.emplace(devices, static_cast<int>(known_sets_.size()));
    if (added) device_sets_.push_back(devices);
    return place->second;
  }

  std::string AttributesText(const BoxView& box) const {
    return absl::StrJoin(
        box.attributes, "\n", [](std::string* out, const auto& attribute) {
          absl::StrAppend(out, attribute.first, " = ", attribute.second);
        });
  }

  Json BoxesJson() {
    Columns columns({"kind", "name", "op", "scope", "location", "devices",
                     "reason", "kernel", "arithmetic", "workspace",
                     "attributes", "text", "operandStart", "operandName",
                     "operandType", "operandBox", "resultStart", "resultName",
                     "resultType"});
    int operands = 0, results = 0;
    for (const BoxView& box : entry_.boxes) {
      columns["kind"].push_back(static_cast<int>(box.kind));
      columns["name"].push_back(strings_.Of(box.name));
      columns["op"].push_back(strings_.Of(box.op));
      columns["scope"].push_back(strings_.Of(box.scope));
      columns["location"].push_back(strings_.Of(box.location));
      columns["devices"].push_back(DeviceSet(box.devices));
      columns["reason"].push_back(strings_.Of(box.reason));
      columns["kernel"].push_back(strings_.Of(box.kernel));
      columns["arithmetic"].push_back(strings_.Of(box.arithmetic));
      columns["workspace"].push_back(box.workspace);
      columns["attributes"].push_back(strings_.Of(AttributesText(box)));
      columns["text"].push_back(
          strings_.HasRoomFor(box.text) ? strings_.Of(box.text) : -1);
      columns["operandStart"].push_back(operands);
      columns["resultStart"].push_back(results);
      for (const OperandView& operand : box.operands) {
        columns["operandName"].push_back(strings_.Of(operand.name));
        columns["operandType"].push_back(strings_.Of(operand.type));
        columns["operandBox"].push_back(operand.box);
      }
      for (const OperandView& result : box.results) {
        columns["resultName"].push_back(strings_.Of(result.name));
        columns["resultType"].push_back(strings_.Of(result.type));
      }
      operands += static_cast<int>(box.operands.size());
      results += static_cast<int>(box.results.size());
    }
    columns["operandStart"].push_back(operands);
    columns["resultStart"].push_back(results);
    return columns.Take();
  }

  Json EdgesJson() {
    Columns columns({"from", "to", "cut"});
    for (const EdgeView& edge : entry_.edges) {
      columns["from"].push_back(edge.from);
      columns["to"].push_back(edge.to);
      columns["cut"].push_back(edge.cut ? 1 : 0);
    }
    return columns.Take();
  }

  // "link" is twice the index of the link, and one more against it; -1: none.
  Json CommandsJson() {
    Columns columns(
        {"stream", "kind", "title", "box", "start", "length", "event", "link"});
    for (const CommandView& command : entry_.commands) {
      const int64_t start = Ticks(command.start);
      columns["stream"].push_back(command.stream);
      columns["kind"].push_back(strings_.Of(command.kind));
      columns["title"].push_back(strings_.Of(command.title));
      columns["box"].push_back(command.box);
      columns["start"].push_back(start);
      columns["length"].push_back(Ticks(command.end) - start);
      columns["event"].push_back(command.event);
      columns["link"].push_back(
          command.link < 0 ? -1 : 2 * command.link + (command.forward ? 0 : 1));
    }
    return columns.Take();
  }

  Json MemoryJson(const MemoryView& memory) {
    Json points = Json::array();
    for (const auto& [time, bytes] : memory.points) {
      points.push_back(Ticks(time));
      points.push_back(bytes);
    }
    Columns blocks({"kind", "name", "box", "begin", "end", "from", "to"});
    for (const BlockView& block : memory.blocks) {
      blocks["kind"].push_back(static_cast<int>(block.kind));
      blocks["name"].push_back(strings_.Of(block.name));
      blocks["box"].push_back(block.box);
      blocks["begin"].push_back(block.begin);
      blocks["end"].push_back(block.end);
      blocks["from"].push_back(block.persistent ? -1 : Ticks(block.from));
      blocks["to"].push_back(block.persistent ? -1 : Ticks(block.to));
    }
    return {
        {"device", memory.device}, {"limit", memory.limit},
        {"arena", memory.arena},   {"persistent", memory.persistent},
        {"peak", memory.peak},     {"points", points},
        {"blocks", blocks.Take()}, {"blocksLeftOut", memory.blocks_left_out}};
  }

  Json TransfersJson() {
    Columns columns({"command", "from", "to", "value", "bytes", "length",
                     "reason", "hiddenLength", "hidden"});
    for (const TransferView& row : entry_.transfers) {
      columns["command"].push_back(row.command.index);
      columns["from"].push_back(strings_.Of(row.from));
      columns["to"].push_back(strings_.Of(row.to));
      columns["value"].push_back(strings_.Of(row.value));
      columns["bytes"].push_back(row.bytes);
      columns["length"].push_back(Ticks(row.seconds));
      columns["reason"].push_back(strings_.Of(row.reason));
      columns["hiddenLength"].push_back(Ticks(row.hidden_seconds));
      columns["hidden"].push_back(row.hidden ? 1 : 0);
    }
    return columns.Take();
  }

  const ViewedEntry& entry_;
  Strings& strings_;
  const double tick_;
  absl::flat_hash_map<std::vector<int>, int> known_sets_;
  Json device_sets_ = Json::array();
};

Json TraceJson(const MeasuredTrace& trace, const ViewedEntry& entry) {
  const double tick = TickOf(trace.end);
  const auto ticks = [tick](double seconds) {
    return static_cast<int64_t>(std::llround(seconds / tick));
  };
  Json start = Json::array(), length = Json::array();
  for (const auto& [from, to] : trace.commands) {
    start.push_back(ticks(from));
    length.push_back(ticks(to) - ticks(from));
  }
  const Residuals residuals = ResidualsOf(entry, trace);
  Json nodes = Json::array(), ops = Json::array();
  for (const NodeResidual& node : residuals.nodes) {
    if (nodes.size() == kMaxResiduals) break;
    nodes.push_back({node.box, node.predicted, node.measured});
  }
  for (const OpResidual& op : residuals.ops) {
    if (ops.size() == kMaxResiduals) break;
    ops.push_back({op.op, op.nodes, op.predicted, op.measured});
  }
  return {{"source", trace.source},
          {"entry", trace.entry},
          {"end", trace.end},
          {"tick", tick},
          {"start", start},
          {"length", length},
          {"nodes", nodes},
          {"ops", ops},
          {"emulated", trace.emulated}};
}

Json TopologyJson(const PlanView& plan) {
  Json devices = Json::array(), links = Json::array();
  for (const MachineDeviceView& device : plan.machine_devices) {
    devices.push_back({{"name", device.name},
                       {"kind", device.kind},
                       {"device", device.device}});
  }
  for (const LinkView& link : plan.links) {
    links.push_back({{"from", link.from},
                     {"to", link.to},
                     {"bandwidth", link.bandwidth},
                     {"duplex", link.duplex}});
  }
  return {{"name", plan.machine}, {"devices", devices}, {"links", links}};
}

}  // namespace

PageData::PageData()
    : strings_(std::make_unique<Strings>()), plans_(Json::array()) {}
PageData::~PageData() = default;

void PageData::AddPlan(const PlanView& plan,
                       const std::vector<MeasuredTrace>& traces) {
  Json devices = Json::array(), entries = Json::array(), steps = Json::array();
  for (const DeviceView& device : plan.devices) {
    devices.push_back({{"name", device.name},
                       {"kind", device.kind},
                       {"memory", device.memory}});
  }
  for (const ViewedEntry& entry : plan.entries) {
    entries.push_back(EntryWriter(entry, *strings_).Write());
  }
  for (const MeasuredTrace& trace : traces) {
    steps.push_back(TraceJson(trace, plan.entries[trace.entry]));
  }
  plans_.push_back({{"name", plan.name},
                    {"summary", plan.summary},
                    {"devices", devices},
                    {"equalDevices", plan.equal_devices},
                    {"machine", TopologyJson(plan)},
                    {"entries", entries},
                    {"traces", steps},
                    {"certificate",
                     {{"checker", plan.certificate.checker},
                      {"hash", plan.certificate.plan_hash},
                      {"proved", plan.certificate.proved},
                      {"assumed", plan.certificate.assumed},
                      {"carried", plan.carried}}}});
}

void PageData::SetDiff(const DiffView& view) {
  Json entries = Json::array(), devices = Json::array();
  for (const EntryPairView& pair : view.entries) {
    entries.push_back(EntryPairJson(pair));
  }
  for (const DeviceDiff& device : view.diff.devices) {
    devices.push_back({{"name", device.device},
                       {"sides", {ArenaJson(device.a), ArenaJson(device.b)}}});
  }
  diff_ = {
      {"equal", view.diff.empty()},
      {"names", Json::array({view.diff.name_a, view.diff.name_b})},
      {"machines", Json::array({view.diff.machine_a, view.diff.machine_b})},
      {"entries", entries},
      {"onlyEntries",
       Json::array({view.diff.entries_only_a, view.diff.entries_only_b})},
      {"devices", devices}};
}

std::string PageData::Text() const {
  const Json page = {
      {"strings", strings_->list()}, {"plans", plans_}, {"diff", diff_}};
  const std::string text = page.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                                     Json::error_handler_t::replace);
  // In JSON these three occur only inside strings.
  return absl::StrReplaceAll(
      text, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

}  // namespace partita
