// Strategy `pinned`: the pins, and the other nodes near them.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

bool Placed(const Draft& draft, NodeId node) {
  return !draft.assignment[node].devices.empty();
}

// Where an operand is stored, and the reason to run a reader there.
struct Home {
  MachineDeviceId device;  // invalid: none
  Reason reason = Reason::kFollows;
  NodeId maker;
};

Home HomeOf(const PlanRequest& request, const Draft& draft, ValueId value) {
  const ValueId root = request.costs.root(value);
  const NodeId maker = request.graph().value(root).defining_node;
  if (!maker.valid()) return {};
  if (!request.costs.is_stored(maker)) {
    if (!Placed(draft, maker)) return {};
    return {draft.assignment[maker].devices[0], Reason::kFollows, maker};
  }
  const Placement* pin = request.pin(maker);
  if (pin == nullptr) return {};
  return {request.costs.FindDevice(pin->devices[0]), Reason::kNearConstant,
          maker};
}

// 2. Puts the node on the device that can run it and has most of its operands'
// bytes; pinned constants and variables go before all activations. A tie goes
// to the device that makes the later operand. Otherwise each residual
// connection would pull its chain of blocks back to the first device.
void FollowOperands(const PlanRequest& request, Draft& draft, NodeId node) {
  const CostModel& costs = request.costs;
  IdVector<MachineDeviceId, int64_t> weight(costs.num_devices(), 0);
  PlacedNode best_why;
  MachineDeviceId best;
  int made_last = -1;  // position of the latest operand on `best`
  bool near_constant = false;
  for (ValueId operand : request.graph().node(node).operands) {
    const Home home = HomeOf(request, draft, operand);
    if (!home.device.valid() || !costs.cost(node, home.device).can_run) {
      continue;
    }
    const bool constant = home.reason == Reason::kNearConstant;
    if (near_constant && !constant) continue;
    if (constant && !near_constant) {
      std::fill(weight.begin(), weight.end(), 0);
      near_constant = true;
      best = {};
    }
    weight[home.device] +=
        std::max<int64_t>(1, costs.bytes(costs.root(operand)));
    const int made = constant ? -1 : costs.position(home.maker);
    if (best.valid() && std::pair(weight[home.device], made) <=
                            std::pair(weight[best], made_last)) {
      continue;
    }
    best = home.device;
    made_last = made;
    best_why.reason = home.reason;
    best_why.value = operand;
  }
  if (best.valid()) Put(draft, node, best, best_why);
}

void ForwardPass(const PlanRequest& request, Draft& draft) {
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node) || Placed(draft, node)) continue;
    FollowOperands(request, draft, node);
  }
}

// The first placed node that reads the value, directly or through views.
NodeId PlacedReader(const PlanRequest& request, const Draft& draft,
                    ValueId value) {
  for (const Use& use : request.graph().value(value).uses) {
    if (Placed(draft, use.node)) return use.node;
    if (!request.costs.is_view(use.node)) continue;
    for (ValueId shown : request.graph().node(use.node).results) {
      const NodeId reader = PlacedReader(request, draft, shown);
      if (reader.valid()) return reader;
    }
  }
  return {};
}

// 3. A node without placed operands goes to its first reader.
void BackwardPass(const PlanRequest& request, Draft& draft) {
  const std::vector<NodeId>& order = request.costs.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!request.costs.computes(*it) || Placed(draft, *it)) continue;
    for (ValueId result : request.graph().node(*it).results) {
      const NodeId reader = PlacedReader(request, draft, result);
      if (!reader.valid()) continue;
      const MachineDeviceId device = draft.assignment[reader].devices[0];
      if (!request.costs.cost(*it, device).can_run) continue;
      const Node& reading = request.graph().node(reader);
      Put(draft, *it, device,
          {.reason = Reason::kFollows,
           .value = reading.results.empty() ? result : reading.results[0]});
      break;
    }
  }
}

// 4. The device that runs the node fastest; the first of equals.
void PutFastest(const PlanRequest& request, Draft& draft, NodeId node) {
  const CostModel& costs = request.costs;
  std::vector<MachineDeviceId> able;
  for (MachineDeviceId device : costs.devices()) {
    if (costs.cost(node, device).can_run) able.push_back(device);
  }
  absl::c_stable_sort(able, [&](MachineDeviceId a, MachineDeviceId b) {
    return costs.cost(node, a).seconds < costs.cost(node, b).seconds;
  });
  PlacedNode why;
  why.reason =
      costs.num_devices() == 1 ? Reason::kOnlyDevice : Reason::kOnlyKernel;
  if (able.size() > 1) {
    why.reason = Reason::kCheaperBy;
    why.seconds =
        costs.cost(node, able[1]).seconds - costs.cost(node, able[0]).seconds;
  }
  Put(draft, node, able[0], why);
}

}  // namespace

absl::StatusOr<Draft> DraftPinned(const PlanRequest& request) {
  Draft draft(request.graph());
  PutPinned(request, draft);
  ForwardPass(request, draft);
  BackwardPass(request, draft);
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node) || Placed(draft, node)) continue;
    FollowOperands(request, draft, node);
    if (!Placed(draft, node)) PutFastest(request, draft, node);
  }
  PutFollowers(request, draft);
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, draft));
  return draft;
}

}  // namespace partita
