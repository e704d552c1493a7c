// Dynamic programming over values and groups of devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/path_bound.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

PathSeconds WithKernel(PathSeconds path, const CommandFloor& floor,
                       double share) {
  path.launches += floor.launch;
  path.kernels += floor.work < kNever ? floor.work * share : kNever;
  return path;
}

PathSeconds WithPort(PathSeconds path, const CommandFloor& floor,
                     double share) {
  path.ports += floor.launch + floor.work * share;
  return path;
}

void Shorten(const PathSeconds& other, PathSeconds& path) {
  if (other.total() < path.total()) path = other;
}

void Lengthen(const PathSeconds& other, PathSeconds& path) {
  if (other.total() > path.total()) path = other;
}

class PathFinder {
 public:
  PathFinder(const CostModel& costs, const DeviceGroups& groups,
             const StepFloor& floor, ShardSize size)
      : costs_(costs),
        groups_(groups),
        floor_(floor),
        size_(size),
        at_(costs.graph().value_id_bound() * groups.size()) {
    bound_.heads = IdVector<ValueId, double>(costs.graph().value_id_bound(), 0);
    bound_.tails = bound_.heads;
  }

  PathBound Find() && {
    for (ValueId input : graph().inputs()) Feed(input);
    for (NodeId node : costs_.order()) Run(node);
    for (ValueId output : graph().outputs()) Fetch(output);
    for (auto it = costs_.order().rbegin(); it != costs_.order().rend(); ++it) {
      ExtendTails(*it);
    }
    return std::move(bound_);
  }

 private:
  const Graph& graph() const { return costs_.graph(); }
  // When the group has a shard of the value.
  PathSeconds& At(ValueId value, DeviceGroupId group) {
    return at_[value.index * groups_.size() + group.index];
  }

  void SetHead(ValueId value) {
    if (!floor_.IsAwaited(value)) return;
    double head = kNever;
    for (DeviceGroupId group : groups_.ids()) {
      head = std::min(head, At(value, group).total());
    }
    bound_.heads[value] = head;
  }

  // An input that only an output reads is fed too.
  void Feed(ValueId input) {
    if (graph().value(input).uses.empty() && !graph().is_output(input)) return;
    const double share = floor_.LeastShare(input, size_);
    for (DeviceGroupId group : groups_.ids()) {
      At(input, group) = WithPort({}, floor_.Port(input, group), share);
    }
    SetHead(input);
  }

  // A resharding splits a shard at most once more, along any dimension.
  PathSeconds Arrival(ValueId value, DeviceGroupId group) {
    if (!floor_.IsAwaited(value)) return {};
    PathSeconds first = At(value, group);
    const double share = floor_.LeastShare(value, size_);
    const double bytes =
        share * share * static_cast<double>(graph().type(value).num_bytes());
    for (DeviceGroupId from : groups_.ids()) {
      const GroupRoute& route = groups_.route(from, group);
      if (route.link == nullptr) continue;
      PathSeconds moved = At(value, from);
      moved.transfers += route.latency + bytes * route.per_byte;
      moved.link = route.link;
      Shorten(moved, first);
    }
    return first;
  }

  void Run(NodeId node) {
    const double share = floor_.LeastShare(node, size_);
    const std::vector<bool> precedes = floor_.PrecedesAllWork(node);
    PathSeconds soonest = {.kernels = kNever};
    for (DeviceGroupId group : groups_.ids()) {
      const CommandFloor floor = floor_.Node(node, group);
      PathSeconds path = WithKernel({}, floor, share);
      for (size_t i = 0; i < precedes.size(); ++i) {
        const ValueId operand = graph().node(node).operands[i];
        Lengthen(
            WithKernel(Arrival(operand, group), floor, precedes[i] ? share : 0),
            path);
      }
      for (ValueId result : graph().node(node).results) {
        At(result, group) = path;
      }
      Shorten(path, soonest);
    }
    for (ValueId result : graph().node(node).results) SetHead(result);
    Lengthen(soonest, bound_.longest);
  }

  // An output is fetched whole from one device.
  void Fetch(ValueId output) {
    PathSeconds soonest = {.kernels = kNever};
    double least = kNever;
    for (DeviceGroupId group : groups_.ids()) {
      const CommandFloor port = floor_.Port(output, group);
      Shorten(WithPort(Arrival(output, group), port, 1), soonest);
      least = std::min(least, port.total());
    }
    Lengthen(soonest, bound_.longest);
    if (!floor_.IsAwaited(output)) return;
    double& tail = bound_.tails[output];
    tail = std::max(tail, least);
  }

  // What follows a value follows the operands of its node.
  void ExtendTails(NodeId node) {
    double after = 0;
    for (ValueId result : graph().node(node).results) {
      after = std::max(after, bound_.tails[result]);
    }
    const std::vector<bool> precedes = floor_.PrecedesAllWork(node);
    const double all = Least(node, floor_.LeastShare(node, size_));
    const double launch = Least(node, 0);
    for (size_t i = 0; i < precedes.size(); ++i) {
      const ValueId operand = graph().node(node).operands[i];
      if (!floor_.IsAwaited(operand)) continue;
      double& tail = bound_.tails[operand];
      tail = std::max(tail, after + (precedes[i] ? all : launch));
    }
  }

  double Least(NodeId node, double share) const {
    double least = kNever;
    for (DeviceGroupId group : groups_.ids()) {
      least = std::min(least,
                       WithKernel({}, floor_.Node(node, group), share).total());
    }
    return least;
  }

  const CostModel& costs_;
  const DeviceGroups& groups_;
  const StepFloor& floor_;
  const ShardSize size_;
  std::vector<PathSeconds> at_;  // value * groups + group
  PathBound bound_;
};

}  // namespace

PathBound BoundPaths(const CostModel& costs, const DeviceGroups& groups,
                     const StepFloor& floor, ShardSize size) {
  return PathFinder(costs, groups, floor, size).Find();
}

}  // namespace partita
