// The longer of the longest path and the least load.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "placement/simulate/device_groups.h"
#include "placement/simulate/load_bound.h"
#include "placement/simulate/path_bound.h"

namespace partita {
namespace {

// Of sums of the same times in two orders.
constexpr double kRounding = 1e-9;

// Seconds of one group's commands, if it ran all that it can.
struct LoadParts {
  double kernels = 0;  // without launches
  double launches = 0;
  double ports = 0;
};

class Bounder {
 public:
  Bounder(const CostModel& costs, const KnownStep& known)
      : costs_(costs),
        known_(known),
        groups_(costs),
        floor_(costs, groups_, known),
        paths_(BoundPaths(costs, groups_, floor_, ShardSize::kSmallest)),
        longest_(LongestPath()),
        depth_(AnyOverlapsSteps() ? known.depth : 1),
        ports_beside_kernels_(AnyPortsBesideKernels()),
        kernels_(groups_.size()),
        feeds_(groups_.size()),
        fetches_(groups_.size()),
        parts_(groups_.size()) {
    AddPorts();
    AddNodes();
  }

  LowerBound Bound() const {
    const LoadBound load = LoadOf(kernels_);
    const LoadBound ports = LoadOfPorts();
    LowerBound bound;
    bound.critical_path = longest_.total();
    bound.load = std::max(load.seconds, ports.seconds);
    const double path = bound.critical_path / depth_;
    bound.seconds = std::max(path, bound.load);
    // No device can do some of the work: there is no plan to bound.
    if (!std::isfinite(bound.seconds)) return {};
    if (bound.seconds <= 0) return bound;
    // A path with one port is no longer than the load of that port alone.
    const double without_ports = std::max(path, load.seconds);
    if (ports.seconds > without_ports * (1 + kRounding)) {
      bound.by = BoundBy::kPorts;
      bound.where = groups_.Name(ports.group);
    } else if (path > load.seconds) {
      Explain(longest_, bound);
    } else {
      Explain(load.group, bound);
    }
    return bound;
  }

 private:
  const Graph& graph() const { return costs_.graph(); }

  bool AnyPortsBesideKernels() const {
    return absl::c_any_of(groups_.ids(), [&](DeviceGroupId group) {
      return groups_[group].ports_beside_kernels;
    });
  }

  bool AnyOverlapsSteps() const {
    return absl::c_any_of(groups_.ids(), [&](DeviceGroupId group) {
      return groups_[group].overlaps_steps;
    });
  }

  LoadBound LoadOf(const StepWork& work) const {
    const LoadBounder bounder(groups_, work);
    return depth_ > 1 ? bounder.Overlapping() : bounder.WithinAStep();
  }

  LoadBound LoadOfPorts() const {
    if (!ports_beside_kernels_) return {};
    const LoadBound feeds = LoadOf(feeds_);
    const LoadBound fetches = LoadOf(fetches_);
    return feeds.seconds > fetches.seconds ? feeds : fetches;
  }

  PathSeconds LongestPath() const {
    if (groups_.size() > 1) return paths_.longest;
    return BoundPaths(costs_, groups_, floor_, ShardSize::kLargest).longest;
  }

  void AddPorts() {
    for (ValueId input : graph().inputs()) {
      if (graph().value(input).uses.empty() && !graph().is_output(input)) {
        continue;
      }
      AddPort(input, {.tail = paths_.tails[input]}, feeds_);
    }
    for (ValueId output : graph().outputs()) {
      AddPort(output, {.head = paths_.heads[output]}, fetches_);
    }
  }

  void AddPort(ValueId value, const WorkItem& item, StepWork& beside) {
    const int runs = known_.RunsOf(value);
    std::vector<double> seconds;
    for (DeviceGroupId group : groups_.ids()) {
      seconds.push_back(runs * floor_.Port(value, group).total());
      if (!ports_beside_kernels_ && std::isfinite(seconds.back())) {
        parts_[group].ports += seconds.back();
      }
    }
    if (!ports_beside_kernels_) {
      kernels_.Add(item, seconds);
    } else if (!IsOfVariable(value)) {
      beside.Add(item, seconds);
    }
  }

  // Its port may be in the stream of kernels, beside those in the ports' own.
  bool IsOfVariable(ValueId value) const {
    const ValueId root = costs_.root(value);
    const NodeId maker = graph().value(root).defining_node;
    if (maker.valid() && graph().view(maker).is(kVariable)) return true;
    return absl::c_any_of(graph().updates(), [&](const VariableUpdate& update) {
      return costs_.root(update.value) == root;
    });
  }

  void AddNodes() {
    const std::vector<double> stored = floor_.StoredBytes();
    for (NodeId node : costs_.order()) {
      WorkItem item{.head = HeadOf(node), .bytes = stored[node.index]};
      int runs = 1;
      for (ValueId result : graph().node(node).results) {
        item.tail = std::max(item.tail, paths_.tails[result]);
        runs = known_.RunsOf(result);
      }
      AddNode(node, runs, item);
    }
  }

  void AddNode(NodeId node, int runs, const WorkItem& item) {
    std::vector<double> seconds;
    for (DeviceGroupId group : groups_.ids()) {
      const CommandFloor floor = floor_.Node(node, group);
      seconds.push_back(runs * floor.total());
      if (!std::isfinite(seconds.back())) continue;
      parts_[group].launches += runs * floor.launch;
      parts_[group].kernels += runs * floor.work;
    }
    if (*absl::c_max_element(seconds) > 0) kernels_.Add(item, seconds);
  }

  // When the last operand is there that all of the node's work waits for.
  double HeadOf(NodeId node) const {
    const std::vector<bool> precedes = floor_.PrecedesAllWork(node);
    double head = 0;
    for (size_t i = 0; i < precedes.size(); ++i) {
      if (!precedes[i]) continue;
      head = std::max(head, paths_.heads[graph().node(node).operands[i]]);
    }
    return head;
  }

  static void Explain(const PathSeconds& path, LowerBound& bound) {
    const double most =
        std::max({path.kernels, path.launches, path.ports, path.transfers});
    if (most == path.kernels) {
      bound.by = BoundBy::kCriticalPath;
    } else if (most == path.ports) {
      bound.by = BoundBy::kPorts;
    } else if (most == path.launches) {
      bound.by = BoundBy::kLaunches;
    } else {
      bound.by = BoundBy::kLink;
      bound.where = absl::StrCat(path.link->from, " - ", path.link->to);
    }
  }

  void Explain(DeviceGroupId group, LowerBound& bound) const {
    const LoadParts& parts = parts_[group];
    const double most = std::max({parts.kernels, parts.launches, parts.ports});
    bound.by = most == parts.kernels ? BoundBy::kLoad
               : most == parts.ports ? BoundBy::kPorts
                                     : BoundBy::kLaunches;
    bound.where = groups_.Name(group);
  }

  const CostModel& costs_;
  const KnownStep& known_;
  const DeviceGroups groups_;
  const StepFloor floor_;
  const PathBound paths_;
  const PathSeconds longest_;
  const int depth_;  // steps that overlap on some device
  // On some device, which may have any feed and fetch.
  const bool ports_beside_kernels_;
  StepWork kernels_;  // with ports, unless these are beside
  StepWork feeds_;    // beside kernels
  StepWork fetches_;
  IdVector<DeviceGroupId, LoadParts> parts_;
};

}  // namespace

double OptimalityGap(double step_seconds, double bound_seconds) {
  if (step_seconds <= 0) return 0;
  // Equal times may be rounded differently.
  return std::max(0.0, 1 - bound_seconds / step_seconds);
}

std::string BoundByText(const LowerBound& bound) {
  const auto with = [&](absl::string_view what, absl::string_view preposition) {
    if (bound.where.empty()) return std::string(what);
    return absl::StrCat(what, preposition, bound.where);
  };
  switch (bound.by) {
    case BoundBy::kNothing:
      return "";
    case BoundBy::kCriticalPath:
      return "critical path";
    case BoundBy::kLaunches:
      return with("launches", " on ");
    case BoundBy::kPorts:
      return with("feeds and fetches", " of ");
    case BoundBy::kLink:
      return with("link", " ");
    case BoundBy::kLoad:
      return with("load", " of ");
  }
  return "";
}

LowerBound BoundStep(const CostModel& costs, const KnownStep& known) {
  if (costs.num_devices() == 0) return {};
  return Bounder(costs, known).Bound();
}

}  // namespace partita
