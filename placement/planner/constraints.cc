// Resolves constraints, and checks drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/constraints.h"

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/op_view.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

std::string MostText(int most) { return absl::StrCat("most-devices ", most); }

std::vector<NodeId> NodesOfGroup(const PlanRequest& request, int group) {
  std::vector<NodeId> nodes;
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node)) continue;
    const std::vector<int>& groups =
        request.graph().node(node).placement.groups;
    if (absl::c_linear_search(groups, group)) nodes.push_back(node);
  }
  return nodes;
}

DeviceSet Sorted(const NodeDevices& place) {
  DeviceSet devices = place.devices;
  absl::c_sort(devices);
  return devices;
}

DeviceSet PinnedSet(const PlanRequest& request, const Placement& pin) {
  DeviceSet set;
  for (const std::string& name : pin.devices) {
    set.push_back(request.costs.FindDevice(name));
  }
  absl::c_sort(set);
  return set;
}

std::vector<DeviceSet> SetsWithKernels(const PlanRequest& request, NodeId node,
                                       absl::Span<const DeviceSet> shared) {
  const auto can_run = [&](MachineDeviceId device) {
    return request.costs.cost(node, device).can_run;
  };
  std::vector<DeviceSet> sets;
  for (MachineDeviceId device : request.costs.devices()) {
    if (can_run(device)) sets.push_back({device});
  }
  absl::c_copy_if(shared, std::back_inserter(sets), [&](const DeviceSet& set) {
    return absl::c_all_of(set, can_run);
  });
  return sets;
}

class Problem {
 public:
  Problem(const PlanRequest& request, const Constraints& constraints)
      : request_(request),
        shared_pins_(SharedPins(request)),
        classes_(request),
        variables_(request, classes_) {
    for (const NodeConstraint& constraint : constraints.nodes()) {
      for (const std::vector<NodeId>& group : constraint.groups) {
        for (NodeId node : group) Add(node);
      }
    }
    if (constraints.most_devices().has_value()) {
      for (NodeId node : request.costs.order()) {
        if (request.costs.computes(node)) Add(node);
      }
    }
    problem_.allowed = variables_.allowed();
    absl::c_move(RulesOf(constraints, variables_.of_nodes()),
                 std::back_inserter(problem_.rules));
  }

  absl::Status Check() const {
    const std::vector<int> rules = SmallestContradiction(problem_);
    if (rules.empty()) return absl::OkStatus();
    const std::string texts =
        absl::StrJoin(rules, " and ", [&](std::string* out, int rule) {
          absl::StrAppend(out, problem_.rules[rule].text);
        });
    return absl::InvalidArgumentError(absl::StrCat(
        "constraints: found ", texts, ", which no placement on machine ",
        request_.costs.machine().name, " meets",
        rules.size() == 1 ? "" : " together",
        "; expected constraints that some placement meets; leave one out"));
  }

 private:
  // A pin is a rule, so that contradictions name it.
  void Add(NodeId node) {
    if (variables_.Has(node)) return;
    const auto able = [&] {
      return SetsWithKernels(request_, node, shared_pins_);
    };
    if (!variables_.Add(node, /*preferred=*/{}, able)) return;
    const Placement* pin = request_.pin(node);
    if (pin == nullptr) return;
    problem_.rules.push_back(
        {.kind = DeviceRule::Kind::kAmong,
         .groups = {{variables_.of_nodes()[node.index]}},
         .sets = {PinnedSet(request_, *pin)},
         .text = absl::StrCat("pin ", request_.graph().view(node).ToString(),
                              " on ", absl::StrJoin(pin->devices, ","))});
  }

  const PlanRequest& request_;
  const std::vector<DeviceSet> shared_pins_;
  const NodeClasses classes_;
  NodeVariables variables_;
  DeviceProblem problem_;
};

// "relu %h on gpu:0".
std::string WhereText(const PlanRequest& request, const Draft& draft,
                      NodeId node) {
  const std::string devices =
      absl::StrJoin(draft.assignment[node].devices, ",",
                    [&](std::string* out, MachineDeviceId device) {
                      absl::StrAppend(out, request.costs.device_name(device));
                    });
  return absl::StrCat(request.graph().view(node).ToString(), " on ", devices);
}

absl::Status Broken(absl::string_view constraint, absl::string_view found,
                    absl::string_view expected) {
  return absl::FailedPreconditionError(absl::StrCat(
      constraint, ": found ", found, "; expected ", expected,
      "; this strategy does not read constraints: take search or auto"));
}

absl::Status CheckTogether(const PlanRequest& request, const Draft& draft,
                           const NodeConstraint& constraint) {
  NodeId first;
  for (const std::vector<NodeId>& group : constraint.groups) {
    for (NodeId node : group) {
      if (!first.valid()) first = node;
      if (Sorted(draft.assignment[node]) == Sorted(draft.assignment[first])) {
        continue;
      }
      return Broken(ConstraintText(constraint.constraint),
                    absl::StrCat(WhereText(request, draft, first), " and ",
                                 WhereText(request, draft, node)),
                    "them on the same devices");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckApart(const PlanRequest& request, const Draft& draft,
                        const NodeConstraint& constraint) {
  struct User {
    size_t group;
    NodeId node;
  };
  std::map<MachineDeviceId, User> users;
  for (size_t g = 0; g < constraint.groups.size(); ++g) {
    for (NodeId node : constraint.groups[g]) {
      for (MachineDeviceId device : draft.assignment[node].devices) {
        const User& user =
            users.try_emplace(device, User{g, node}).first->second;
        if (user.group == g) continue;
        return Broken(ConstraintText(constraint.constraint),
                      absl::StrCat(WhereText(request, draft, user.node),
                                   " and ", WhereText(request, draft, node)),
                      "them on different devices");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMost(const PlanRequest& request, const Draft& draft,
                       int most) {
  std::set<MachineDeviceId> used;
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node)) continue;
    const NodeDevices& place = draft.assignment[node];
    used.insert(place.devices.begin(), place.devices.end());
  }
  if (static_cast<int>(used.size()) <= most) return absl::OkStatus();
  return Broken(MostText(most),
                absl::StrCat("a placement on ", used.size(), " devices"),
                absl::StrCat("at most ", most));
}

}  // namespace

std::vector<DeviceSet> SharedPins(const PlanRequest& request) {
  std::vector<DeviceSet> shared;
  for (NodeId node : request.costs.order()) {
    const Placement* pin = request.pin(node);
    if (pin == nullptr || !request.costs.computes(node)) continue;
    DeviceSet set = PinnedSet(request, *pin);
    if (set.size() < 2 || absl::c_linear_search(shared, set)) continue;
    shared.push_back(std::move(set));
  }
  return shared;
}

std::vector<DeviceSet> AllowedSets(const PlanRequest& request, NodeId node,
                                   absl::Span<const DeviceSet> shared) {
  const Placement* pin = request.pin(node);
  if (pin != nullptr) return {PinnedSet(request, *pin)};
  return SetsWithKernels(request, node, shared);
}

NodeClasses::NodeClasses(const PlanRequest& request)
    : of_nodes_(request.graph().node_id_bound(), -1) {
  // Groups, devices of the pin, and a character for each device: has it a
  // kernel?
  using Key = std::tuple<std::vector<int>, absl::InlinedVector<std::string, 1>,
                         std::string>;
  absl::flat_hash_map<Key, int> numbers;
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node)) continue;
    Key key;
    auto& [groups, pinned, able] = key;
    groups = request.graph().node(node).placement.groups;
    if (const Placement* pin = request.pin(node); pin != nullptr) {
      pinned = pin->devices;
    }
    for (MachineDeviceId device : request.costs.devices()) {
      able.push_back(request.costs.cost(node, device).can_run ? '1' : '0');
    }
    of_nodes_[node.index] =
        numbers.try_emplace(std::move(key), static_cast<int>(numbers.size()))
            .first->second;
  }
}

NodeVariables::NodeVariables(const PlanRequest& request,
                             const NodeClasses& classes)
    : classes_(classes), of_nodes_(request.graph().node_id_bound(), -1) {}

bool NodeVariables::Add(NodeId node, const DeviceSet& preferred,
                        absl::FunctionRef<std::vector<DeviceSet>()> sets) {
  const auto [number, is_new] = numbers_.try_emplace(
      {classes_.of(node), preferred}, static_cast<int>(allowed_.size()));
  of_nodes_[node.index] = number->second;
  if (is_new) allowed_.push_back(sets());
  return is_new;
}

std::vector<DeviceRule> RulesOf(const Constraints& constraints,
                                const std::vector<int>& variable_of) {
  std::vector<DeviceRule> rules;
  for (const NodeConstraint& constraint : constraints.nodes()) {
    const bool is_together =
        constraint.constraint.kind == Constraint::Kind::kTogether;
    DeviceRule& rule = rules.emplace_back();
    rule.kind =
        is_together ? DeviceRule::Kind::kEqual : DeviceRule::Kind::kDifferent;
    rule.text = ConstraintText(constraint.constraint);
    for (const std::vector<NodeId>& group : constraint.groups) {
      std::vector<int>& variables = rule.groups.emplace_back();
      for (NodeId node : group) {
        const int variable = variable_of[node.index];
        if (variable >= 0) variables.push_back(variable);
      }
    }
  }
  if (const std::optional<int> most = constraints.most_devices();
      most.has_value()) {
    rules.push_back({.kind = DeviceRule::Kind::kAtMost,
                     .most = *most,
                     .text = MostText(*most)});
  }
  return rules;
}

absl::StatusOr<Constraints> Constraints::Resolve(const PlanRequest& request) {
  Constraints resolved;
  if (request.options.most_devices.has_value()) {
    resolved.most_devices_ = static_cast<int>(*request.options.most_devices);
  }
  int next = 0;  // group
  for (const Constraint& constraint : request.options.constraints) {
    NodeConstraint& nodes = resolved.nodes_.emplace_back();
    nodes.constraint = constraint;
    for (size_t i = 0; i < GroupsOf(constraint).size(); ++i) {
      nodes.groups.push_back(NodesOfGroup(request, next++));
    }
  }
  if (resolved.empty()) return resolved;
  const absl::Status status = Problem(request, resolved).Check();
  if (!status.ok()) return status;
  return resolved;
}

absl::Status Constraints::Check(const PlanRequest& request,
                                const Draft& draft) const {
  for (const NodeConstraint& constraint : nodes_) {
    const absl::Status status =
        constraint.constraint.kind == Constraint::Kind::kTogether
            ? CheckTogether(request, draft, constraint)
            : CheckApart(request, draft, constraint);
    if (!status.ok()) return status;
  }
  if (!most_devices_.has_value()) return absl::OkStatus();
  return CheckMost(request, draft, *most_devices_);
}

}  // namespace partita
