// Merges equal variables, then backtracks.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/device_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

using Devices = std::vector<MachineDeviceId>;

constexpr size_t kMostTriedTogether = 3;
// Above so many rules, sets are not tried by size.
constexpr size_t kMostRulesBySize = 24;

Devices Common(const Devices& a, const Devices& b) {
  Devices common;
  for (MachineDeviceId device : a) {
    if (absl::c_linear_search(b, device)) common.push_back(device);
  }
  return common;
}

class Solver {
 public:
  explicit Solver(const DeviceProblem& problem)
      : rules_(problem.rules),
        allowed_(problem.allowed),
        leader_(problem.allowed.size()) {
    absl::c_iota(leader_, 0);
    for (const DeviceRule& rule : rules_) Narrow(rule);
    for (const DeviceRule& rule : rules_) Merge(rule);
    ListRivals();
    FindMost();
    for (size_t v = 0; v < leader_.size(); ++v) {
      if (Leader(v) == static_cast<int>(v)) order_.push_back(v);
    }
    absl::c_stable_sort(order_, [&](int a, int b) {
      return allowed_[a].size() < allowed_[b].size();
    });
    chosen_.resize(leader_.size());
  }

  DeviceSolution Run() {
    DeviceSolution solution;
    solution.exists = Choose(0);
    solution.is_complete = steps_ <= kMostDeviceSteps;
    if (!solution.exists) return solution;
    for (size_t v = 0; v < leader_.size(); ++v) {
      solution.devices.push_back(chosen_[Leader(v)]);
    }
    return solution;
  }

 private:
  int Leader(int v) const {
    while (leader_[v] != v) v = leader_[v];
    return v;
  }

  void Narrow(const DeviceRule& rule) {
    if (rule.kind != DeviceRule::Kind::kAmong) return;
    for (const std::vector<int>& group : rule.groups) {
      for (int v : group) allowed_[v] = Common(allowed_[v], rule.devices);
    }
  }

  void Merge(const DeviceRule& rule) {
    if (rule.kind != DeviceRule::Kind::kEqual) return;
    int first = -1;
    for (const std::vector<int>& group : rule.groups) {
      for (int v : group) {
        const int other = Leader(v);
        if (first < 0) first = other;
        if (other == first) continue;
        leader_[other] = first;
        allowed_[first] = Common(allowed_[first], allowed_[other]);
      }
    }
  }

  void ListRivals() {
    rivals_.resize(leader_.size());
    for (const DeviceRule& rule : rules_) {
      if (rule.kind != DeviceRule::Kind::kDifferent) continue;
      for (size_t a = 0; a < rule.groups.size(); ++a) {
        for (size_t b = 0; b < rule.groups.size(); ++b) {
          if (a != b) AddRivals(rule.groups[a], rule.groups[b]);
        }
      }
    }
  }

  void AddRivals(const std::vector<int>& group, const std::vector<int>& other) {
    for (int v : group) {
      for (int rival : other) rivals_[Leader(v)].push_back(Leader(rival));
    }
  }

  void FindMost() {
    for (const DeviceRule& rule : rules_) {
      if (rule.kind == DeviceRule::Kind::kAtMost) {
        most_ = std::min(most_, rule.most);
      }
    }
  }

  bool MayHave(int v, MachineDeviceId device) const {
    return absl::c_none_of(rivals_[v], [&](int rival) {
      return rival == v || chosen_[rival] == device;
    });
  }

  // `next`: of order_. Once the steps are used up, nothing is found.
  bool Choose(size_t next) {
    if (next == order_.size()) return true;
    const int v = order_[next];
    for (MachineDeviceId device : allowed_[v]) {
      if (++steps_ > kMostDeviceSteps) return false;
      if (!MayHave(v, device)) continue;
      const bool is_new = !absl::c_linear_search(used_, device);
      if (is_new && static_cast<int>(used_.size()) == most_) continue;
      if (is_new) used_.push_back(device);
      chosen_[v] = device;
      if (Choose(next + 1)) return true;
      chosen_[v] = MachineDeviceId();
      if (is_new) used_.pop_back();
    }
    return false;
  }

  const std::vector<DeviceRule>& rules_;
  std::vector<Devices> allowed_;          // by variable; of leaders: of all
  std::vector<int> leader_;               // by variable: one that it equals
  std::vector<std::vector<int>> rivals_;  // by leader: leaders
  int most_ = 1 << 30;
  std::vector<int> order_;  // leaders
  Devices chosen_;          // by leader; invalid: none yet
  Devices used_;
  int steps_ = 0;
};

// True if it is known that these rules cannot be met.
bool Contradict(const DeviceProblem& problem, const std::vector<int>& rules) {
  DeviceProblem part{problem.allowed, {}};
  for (int rule : rules) part.rules.push_back(problem.rules[rule]);
  const DeviceSolution solution = SolveDevices(part);
  return !solution.exists && solution.is_complete;
}

// Sets of `size` rules with these and later ones.
std::optional<std::vector<int>> FindOfSize(const DeviceProblem& problem,
                                           size_t size,
                                           std::vector<int> chosen) {
  if (chosen.size() == size) {
    if (!Contradict(problem, chosen)) return std::nullopt;
    return chosen;
  }
  const int first = chosen.empty() ? 0 : chosen.back() + 1;
  chosen.push_back(first);
  for (; chosen.back() < static_cast<int>(problem.rules.size());
       ++chosen.back()) {
    auto found = FindOfSize(problem, size, chosen);
    if (found.has_value()) return found;
  }
  return std::nullopt;
}

// Leaves out every rule without which the others still contradict each other.
std::vector<int> Reduce(const DeviceProblem& problem, std::vector<int> rules) {
  for (size_t i = 0; i < rules.size();) {
    std::vector<int> fewer = rules;
    fewer.erase(fewer.begin() + static_cast<int64_t>(i));
    if (Contradict(problem, fewer)) {
      rules = std::move(fewer);
    } else {
      ++i;
    }
  }
  return rules;
}

}  // namespace

DeviceSolution SolveDevices(const DeviceProblem& problem) {
  return Solver(problem).Run();
}

std::vector<int> SmallestContradiction(const DeviceProblem& problem) {
  std::vector<int> all(problem.rules.size());
  absl::c_iota(all, 0);
  if (!Contradict(problem, all)) return {};
  for (size_t size = 1; size <= kMostTriedTogether; ++size) {
    if (all.size() > kMostRulesBySize) break;
    auto found = FindOfSize(problem, size, {});
    if (found.has_value()) return *std::move(found);
  }
  return Reduce(problem, std::move(all));
}

}  // namespace partita
