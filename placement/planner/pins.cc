// Matches pins with nodes and refuses pins that cannot be kept.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/pins.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "placement/cost/node_roles.h"
#include "placement/partition/sharded_placement.h"
#include "placement/planner/match_pattern.h"
#include "placement/planner/pin_divisions.h"

namespace partita {
namespace {

constexpr size_t kMostNamesShown = 6;
constexpr size_t kMostNamesCompared = 4096;

bool MatchesNode(const Pin& pin, const OpView& node) {
  if (MatchesPattern(pin.pattern, node.node().scope)) return true;
  for (int i = 0; i < node.num_results(); ++i) {
    if (MatchesPattern(pin.pattern, node.result(i).name())) return true;
  }
  return false;
}

std::string PinText(const Pin& pin) {
  std::string text =
      absl::StrCat(pin.pattern, "=", absl::StrJoin(pin.devices, ","));
  if (pin.dim >= 0) absl::StrAppend(&text, "/split", pin.dim);
  return text;
}

// `where` is a pin or a node.
absl::Status CheckDevices(absl::string_view where,
                          absl::Span<const std::string> devices,
                          const Machine& machine) {
  if (devices.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": found no device; expected one of ", machine.DeviceNames()));
  }
  absl::btree_set<std::string> seen;
  for (const std::string& device : devices) {
    if (machine.FindDevice(device) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": found unknown device ", device,
                       "; expected one of ", machine.DeviceNames()));
    }
    if (!seen.insert(device).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, ": found ", device, " twice; expected every device once"));
    }
  }
  return absl::OkStatus();
}

absl::Status PinError(const Pin& pin, absl::string_view found) {
  return OfOption("pin", absl::InvalidArgumentError(
                             absl::StrCat("pin ", PinText(pin), ": ", found)));
}

absl::Status CheckPinDevices(const Pin& pin, const Machine& machine) {
  const absl::Status known =
      CheckDevices(absl::StrCat("pin ", PinText(pin)), pin.devices, machine);
  if (!known.ok()) return OfOption("pin", known);
  if (pin.dim < 0 || pin.devices.size() > 1) return absl::OkStatus();
  return PinError(
      pin,
      absl::StrCat("found one device to split over; expected several, or no ",
                   "/split", pin.dim));
}

bool HasDimension(const OpView& node, int dim) {
  for (int i = 0; i < node.num_results(); ++i) {
    if (dim >= node.result_type(i).rank()) return false;
  }
  return true;
}

// True if the pin names this node, not a group that includes it.
bool NamesNode(const Pin& pin, const OpView& node) {
  for (int i = 0; i < node.num_results(); ++i) {
    if (pin.pattern == node.result(i).name()) return true;
  }
  return false;
}

Placement WholePlacement(const Pin& pin) {
  Placement placement;
  placement.devices.assign(pin.devices.begin(), pin.devices.end());
  return placement;
}

Placement SplitPlacement(const Pin& pin, const OpView& node) {
  Placement placement = WholePlacement(pin);
  placement.results.assign(
      node.num_results(),
      Sharding{.kind = Sharding::Kind::kSplit, .dim = pin.dim});
  return placement;
}

// A layer's scope includes nodes of its gradient, which the user did not write:
// those that cannot be sharded stay whole. For a node that the pin names,
// CheckPinDivisions reports the error later.
absl::Status CheckCanShard(const Pin& pin, const OpView& node) {
  if (NamesNode(pin, node)) return absl::OkStatus();
  return ShardNode(node, SplitPlacement(pin, node)).status();
}

// Stored values are sharded as their readers need them.
Placement PlacementOf(const Pin& pin, const OpView& node) {
  if (pin.dim < 0 || IsStored(node) || !HasDimension(node, pin.dim) ||
      !CheckCanShard(pin, node).ok()) {
    return WholePlacement(pin);
  }
  return SplitPlacement(pin, node);
}

// What a pin found among its matching nodes.
struct Matches {
  bool any = false;
  bool with_dim = false;  // one of them has the pin's dimension
  bool sharded = false;
  absl::Status fault;  // why the first whole one cannot be sharded

  void Add(const Pin& pin, const OpView& node) {
    any = true;
    if (pin.dim < 0 || !HasDimension(node, pin.dim)) return;
    with_dim = true;
    if (IsStored(node)) return;
    absl::Status status = CheckCanShard(pin, node);
    sharded = sharded || status.ok();
    fault.Update(std::move(status));
  }
};

// By node id: true if an output or update needs it. Other nodes are dead.
std::vector<bool> NeededNodes(const Graph& graph) {
  std::vector<bool> needed(graph.node_id_bound(), false);
  const auto need = [&](ValueId value) {
    const NodeId maker = graph.value(value).defining_node;
    if (maker.valid()) needed[maker.index] = true;
  };
  for (ValueId output : graph.outputs()) need(output);
  for (const VariableUpdate& update : graph.updates()) need(update.value);
  const std::vector<NodeId> order = graph.order();
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (!needed[node->index]) continue;
    for (ValueId operand : graph.node(*node).operands) need(operand);
  }
  return needed;
}

// The placement in a graph's text: devices, and results that are split or
// whole.
absl::StatusOr<Placement> WrittenPlacement(const OpView& node,
                                           const Machine& machine) {
  Placement placement = node.node().placement;
  PARTITA_RETURN_IF_ERROR(
      CheckDevices(node.ToString(), placement.devices, machine));
  placement.operands.clear();
  const auto is = [&](Sharding::Kind kind) {
    return absl::c_any_of(placement.results, [kind](const Sharding& sharding) {
      return sharding.kind == kind;
    });
  };
  if (is(Sharding::Kind::kPartial)) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.ToString(),
        ": found a placement with a partial result; expected devices, and "
        "results that are split or whole; leave the rest to the compiler"));
  }
  if (IsStored(node) || placement.devices.size() == 1 ||
      !is(Sharding::Kind::kSplit)) {
    placement.results.clear();
  }
  return placement;
}

// "one such as %h, %p or encoder/0": the names nearest to the pattern.
std::string NearestNames(const Module& module, absl::string_view pattern) {
  absl::btree_set<std::string> names;
  for (const auto& function : module.functions()) {
    for (const OpView& node : function->ops()) {
      if (names.size() >= kMostNamesCompared) break;
      names.insert(node.node().scope);
      for (int i = 0; i < node.num_results(); ++i) {
        names.insert(node.result(i).name());
      }
    }
  }
  names.erase("");
  if (names.empty()) return "a node with a name, but no node has one";
  const std::vector<std::string> all(names.begin(), names.end());
  return absl::StrCat(
      "one such as ",
      absl::StrJoin(ClosestNames(pattern, all, kMostNamesShown), ", "));
}

// Writes pins on nodes, function by function.
class Writer {
 public:
  Writer(absl::Span<const Pin> pins, const Machine& machine)
      : pins_(pins), machine_(machine), matches_(pins.size()) {
    for (const Pin& pin : pins) written_.push_back({PinText(pin), {}});
  }

  absl::Status WriteOn(int function, Graph& graph) {
    const std::vector<bool> needed = NeededNodes(graph);
    for (const OpView& node : graph.ops()) {
      PARTITA_ASSIGN_OR_RETURN(const int pin, PlaceByPin(graph, node));
      if (pin < 0) continue;
      written_[pin].nodes.push_back(
          {function, needed[node.id().index] ? node.id() : NodeId(),
           node.num_results() == 0 ? "" : node.result(0).name(),
           node.node().placement});
    }
    return absl::OkStatus();
  }

  absl::Status CheckMatched(const Module& module) const {
    for (size_t i = 0; i < pins_.size(); ++i) {
      const Matches& matches = matches_[i];
      if (!matches.any) {
        return PinError(
            pins_[i],
            absl::StrCat("found no node with this scope or result name; ",
                         "expected ", NearestNames(module, pins_[i].pattern),
                         "; * matches any run of characters"));
      }
      if (pins_[i].dim >= 0 && !matches.with_dim) {
        return PinError(
            pins_[i],
            absl::StrCat("found no dimension ", pins_[i].dim,
                         " of the nodes that match; expected one of their ",
                         "results'"));
      }
      if (matches.sharded || matches.fault.ok()) continue;
      return PinError(
          pins_[i],
          absl::StrCat("found no node that it can split; expected one; ",
                       "the first is ", matches.fault.message()));
    }
    return absl::OkStatus();
  }

  std::vector<WrittenPin> Finish() { return std::move(written_); }

 private:
  // The index in `written_` of the node's pin; -1 if none.
  absl::StatusOr<int> PlaceByPin(Graph& graph, const OpView& node) {
    Placement& placement = graph.node(node.id()).placement;
    int found = -1;
    if (placement.placed()) {
      PARTITA_ASSIGN_OR_RETURN(placement, WrittenPlacement(node, machine_));
      found = static_cast<int>(written_.size());
      written_.push_back({absl::StrCat(node.ToString(), " on ",
                                       absl::StrJoin(placement.devices, ",")),
                          {},
                          /*is_in_text=*/true});
    }
    for (size_t i = 0; i < pins_.size(); ++i) {
      if (!MatchesNode(pins_[i], node)) continue;
      matches_[i].Add(pins_[i], node);
      if (found < 0) {
        found = static_cast<int>(i);
        placement = PlacementOf(pins_[i], node);
      } else if (found < static_cast<int>(pins_.size()) &&
                 placement != PlacementOf(pins_[i], node)) {
        return Conflict(node, pins_[found], pins_[i]);
      }
    }
    return found;
  }

  // Pins have no precedence: a script may have written them in any order.
  static absl::Status Conflict(const OpView& node, const Pin& one,
                               const Pin& other) {
    return PinError(
        one, absl::StrCat("found ", PinText(other), " for ", node.ToString(),
                          " too; expected pins that agree on a node; narrow ",
                          "one of the patterns"));
  }

  const absl::Span<const Pin> pins_;
  const Machine& machine_;
  std::vector<Matches> matches_;     // by pin
  std::vector<WrittenPin> written_;  // pins, then placements in the text
};

// The nodes that passes left of a function, to find out which pins are in
// effect.
struct Remains {
  explicit Remains(const Graph& graph) : graph(graph) {
    for (const OpView& node : graph.ops()) {
      if (node.is(kConstant)) constants.insert(node.result(0).name());
      if (IsStored(node) || !node.node().placement.placed()) continue;
      placements.push_back(node.node().placement);
      placements.back().groups.clear();
    }
  }

  // A folded node leaves a constant of its name. A node that is missing
  // otherwise may be part of a fused node, which has its placement.
  bool Has(const WrittenPin::On& on) const {
    if (!on.node.valid()) return false;
    if (graph.alive(on.node)) return true;
    if (!on.name.empty() && constants.contains(on.name)) return false;
    return absl::c_linear_search(placements, on.placement);
  }

  const Graph& graph;
  absl::flat_hash_set<std::string> constants;
  std::vector<Placement> placements;
};

absl::Status CheckPin(const CostModel& costs, const OpView& node) {
  const auto& devices = node.node().placement.devices;
  PARTITA_RETURN_IF_ERROR(
      CheckDevices(node.ToString(), devices, costs.machine()));
  const auto runs = [&](MachineDeviceId device) {
    return costs.cost(node.id(), device).can_run;
  };
  for (const std::string& name : devices) {
    if (runs(costs.FindDevice(name))) continue;
    std::vector<std::string> able;
    for (MachineDeviceId device : costs.devices()) {
      if (runs(device)) able.push_back(costs.device_name(device));
    }
    return absl::UnimplementedError(absl::StrCat(
        TextWithParts(node), ": found no kernel on ", name, " for (",
        node.OperandTypesText(), "), where a pin puts it; expected ",
        able.empty() ? "a device with one" : absl::StrJoin(able, " or "),
        "; change the pin"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<WrittenPin>> WritePins(Module& module,
                                                  const Machine& machine,
                                                  absl::Span<const Pin> pins) {
  for (const Pin& pin : pins) {
    PARTITA_RETURN_IF_ERROR(CheckPinDevices(pin, machine));
  }
  Writer writer(pins, machine);
  for (size_t i = 0; i < module.functions().size(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        writer.WriteOn(static_cast<int>(i), *module.functions()[i]));
  }
  PARTITA_RETURN_IF_ERROR(writer.CheckMatched(module));
  return writer.Finish();
}

std::vector<std::string> PinsWithoutNodes(const Module& module,
                                          absl::Span<const WrittenPin> pins) {
  std::vector<Remains> remains;
  for (const auto& function : module.functions()) {
    remains.emplace_back(*function);
  }
  std::vector<std::string> texts;
  for (const WrittenPin& pin : pins) {
    const bool left = absl::c_any_of(pin.nodes, [&](const WrittenPin::On& on) {
      return remains[on.function].Has(on);
    });
    if (!left) texts.push_back(pin.text);
  }
  return texts;
}

absl::Status CheckPins(const CostModel& costs) {
  for (NodeId id : costs.order()) {
    const OpView node = costs.graph().view(id);
    if (!node.node().placement.placed()) continue;
    PARTITA_RETURN_IF_ERROR(CheckPin(costs, node));
  }
  return absl::OkStatus();
}

}  // namespace partita
