// Matches pins with nodes and refuses those that cannot hold.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/pins.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

bool MatchesNode(const Pin& pin, const OpView& node) {
  if (MatchesPattern(pin.pattern, node.node().scope)) return true;
  for (int i = 0; i < node.num_results(); ++i) {
    if (MatchesPattern(pin.pattern, node.result(i).name())) return true;
  }
  return false;
}

const Pin* FirstMatch(const OpView& node, absl::Span<const Pin> pins) {
  for (const Pin& pin : pins) {
    if (MatchesNode(pin, node)) return &pin;
  }
  return nullptr;
}

std::string PinText(const Pin& pin) {
  std::string text =
      absl::StrCat("pin ", pin.pattern, "=", absl::StrJoin(pin.devices, ","));
  if (pin.dim >= 0) absl::StrAppend(&text, "/split", pin.dim);
  return text;
}

absl::Status CheckDevices(const CostModel& costs, const Pin& pin) {
  std::vector<std::string> names;
  for (const MachineDevice& device : costs.machine().devices) {
    names.push_back(device.traits.name);
  }
  if (pin.devices.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(PinText(pin), ": found no device; expected one of ",
                     absl::StrJoin(names, ", ")));
  }
  for (size_t i = 0; i < pin.devices.size(); ++i) {
    if (costs.FindDevice(pin.devices[i]) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(PinText(pin), ": found unknown device ", pin.devices[i],
                       "; expected one of ", absl::StrJoin(names, ", ")));
    }
    for (size_t j = 0; j < i; ++j) {
      if (pin.devices[j] != pin.devices[i]) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(PinText(pin), ": found ", pin.devices[i],
                       " twice; expected every device once"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckKernels(const CostModel& costs, NodeId id, const Pin& pin) {
  for (const std::string& name : pin.devices) {
    if (costs.cost(id, costs.FindDevice(name)).can_run) continue;
    std::vector<std::string> able;
    for (int d = 0; d < costs.num_devices(); ++d) {
      if (costs.cost(id, d).can_run) able.push_back(costs.device_name(d));
    }
    return absl::UnimplementedError(absl::StrCat(
        costs.graph().view(id).ToString(), ": found no kernel on ", name,
        ", where ", PinText(pin), " puts it; expected ",
        able.empty() ? "a device with one" : absl::StrJoin(able, " or "),
        "; change the pin"));
  }
  return absl::OkStatus();
}

// The factor that divides dimension `dim` of every result; -1 if there is none
// that may be cut.
int FactorOfResults(const DimensionRule& rule, int dim) {
  int factor = -1;
  for (const DimensionRule::Dims& dims : rule.results) {
    if (dim >= static_cast<int>(dims.size()) || dims[dim].empty()) return -1;
    const int outermost = dims[dim].front();
    if (factor >= 0 && outermost != factor) return -1;
    factor = outermost;
  }
  if (factor < 0) return -1;
  const Factor::Kind kind = rule.factors[factor].kind;
  const bool cuttable =
      kind == Factor::Kind::kKept || kind == Factor::Kind::kHalo;
  return cuttable ? factor : -1;
}

// A neighbour's rows are not part of a shard: such an operand is whole.
std::vector<Sharding> ShardsAlong(const std::vector<DimensionRule::Dims>& all,
                                  const Factor& factor, int index,
                                  bool operands) {
  std::vector<Sharding> shards;
  for (const DimensionRule::Dims& dims : all) {
    const int dim = DimensionOf(dims, index);
    Sharding sharding;
    if (dim >= 0 && !(operands && factor.kind == Factor::Kind::kHalo)) {
      sharding.kind = Sharding::Kind::kSplit;
      sharding.dim = dim;
    }
    shards.push_back(sharding);
  }
  return shards;
}

}  // namespace

bool MatchesPattern(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0;
  size_t star = absl::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) &&
        pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++retry;  // the star takes one more character
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

absl::StatusOr<Placement> PinnedPlacement(const OpView& node, const Pin& pin) {
  Placement placement;
  placement.devices.assign(pin.devices.begin(), pin.devices.end());
  if (pin.dim < 0 || pin.devices.size() == 1) return placement;
  const DimensionRule rule = node.op().dimension_rule != nullptr
                                 ? node.op().dimension_rule(node)
                                 : WholeRule(node);
  const int factor = FactorOfResults(rule, pin.dim);
  if (factor < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.ToString(), ": found ", PinText(pin),
        ", which cannot be cut; expected a dimension whose parts are computed "
        "apart; pin it to one device or along another dimension"));
  }
  placement.operands =
      ShardsAlong(rule.operands, rule.factors[factor], factor, true);
  placement.results =
      ShardsAlong(rule.results, rule.factors[factor], factor, false);
  return placement;
}

absl::StatusOr<std::vector<const Pin*>> ResolvePins(
    const CostModel& costs, absl::Span<const Pin> pins) {
  for (const Pin& pin : pins) {
    PARTITA_RETURN_IF_ERROR(CheckDevices(costs, pin));
  }
  const Graph& graph = costs.graph();
  std::vector<const Pin*> table(graph.node_id_bound(), nullptr);
  std::vector<bool> used(pins.size(), false);
  for (NodeId id : costs.order()) {
    const OpView node = graph.view(id);
    for (size_t i = 0; i < pins.size(); ++i) {
      if (!used[i] && MatchesNode(pins[i], node)) used[i] = true;
    }
    const Pin* pin = FirstMatch(node, pins);
    if (pin == nullptr) continue;
    table[id.index] = pin;
    if (costs.is_stored(id)) continue;
    PARTITA_RETURN_IF_ERROR(CheckKernels(costs, id, *pin));
    PARTITA_RETURN_IF_ERROR(PinnedPlacement(node, *pin).status());
  }
  for (size_t i = 0; i < pins.size(); ++i) {
    if (used[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(PinText(pins[i]),
                     ": found no node with such a scope or result name "
                     "in @",
                     graph.name(),
                     "; expected at least one; * stands for any run "
                     "of characters"));
  }
  return table;
}

}  // namespace partita
