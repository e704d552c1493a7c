// Merges equal variables, then backtracks.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/device_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

// Above so many rules, sets are not tried by size.
constexpr size_t kMostRulesBySize = 24;
constexpr size_t kMostTriedTogether = 3;

std::vector<DeviceSet> Common(const std::vector<DeviceSet>& a,
                              const std::vector<DeviceSet>& b) {
  std::vector<DeviceSet> common;
  for (const DeviceSet& set : a) {
    if (absl::c_linear_search(b, set)) common.push_back(set);
  }
  return common;
}

// The group whose variables have a device, of one rule.
struct Owner {
  int group = -1;
  int variables = 0;  // that have the device; 0: it has no owner
};

// The group of a variable in one rule of kDifferent.
struct GroupOfRule {
  friend bool operator==(const GroupOfRule&, const GroupOfRule&) = default;

  int rule = 0;  // index into owners_
  int group = 0;
};

class Solver {
 public:
  explicit Solver(const DeviceProblem& problem)
      : rules_(problem.rules),
        allowed_(problem.allowed),
        leader_(problem.allowed.size()),
        groups_(problem.allowed.size()) {
    absl::c_iota(leader_, 0);
    for (const DeviceRule& rule : rules_) Narrow(rule);
    for (const DeviceRule& rule : rules_) Merge(rule);
    CountDevices();
    for (const DeviceRule& rule : rules_) Join(rule);
    FindMost();
    for (size_t v = 0; v < leader_.size(); ++v) {
      if (Leader(v) == static_cast<int>(v)) order_.push_back(v);
    }
    absl::c_stable_sort(order_, [&](int a, int b) {
      return allowed_[a].size() < allowed_[b].size();
    });
  }

  DeviceSolution Run() {
    DeviceSolution solution;
    solution.exists = Choose();
    solution.is_complete = steps_left_ >= 0;
    if (!solution.exists) return solution;
    std::vector<const DeviceSet*> chosen(leader_.size(), nullptr);
    for (size_t i = 0; i < order_.size(); ++i) chosen[order_[i]] = &Chosen(i);
    for (size_t v = 0; v < leader_.size(); ++v) {
      solution.sets.push_back(*chosen[Leader(v)]);
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
      for (int v : group) allowed_[v] = Common(allowed_[v], rule.sets);
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

  void CountDevices() {
    int devices = 0;
    for (const std::vector<DeviceSet>& sets : allowed_) {
      for (const DeviceSet& set : sets) {
        for (MachineDeviceId d : set) devices = std::max(devices, d.index + 1);
      }
    }
    users_.assign(devices, 0);
  }

  // A variable in two groups of one rule would differ from itself.
  void Join(const DeviceRule& rule) {
    if (rule.kind != DeviceRule::Kind::kDifferent) return;
    const int number = static_cast<int>(owners_.size());
    owners_.emplace_back(users_.size());
    for (size_t g = 0; g < rule.groups.size(); ++g) {
      const GroupOfRule joined{number, static_cast<int>(g)};
      for (int v : rule.groups[g]) {
        const int leader = Leader(v);
        std::vector<GroupOfRule>& groups = groups_[leader];
        if (!groups.empty() && groups.back() == joined) continue;
        if (!groups.empty() && groups.back().rule == number)
          allowed_[leader].clear();
        groups.push_back(joined);
      }
    }
  }

  void FindMost() {
    for (const DeviceRule& rule : rules_) {
      if (rule.kind == DeviceRule::Kind::kAtMost) {
        most_ = std::min(most_, rule.most);
      }
    }
  }

  bool MayHave(int v, const DeviceSet& set) const {
    int used = num_used_;
    for (MachineDeviceId device : set) {
      used += users_[device.index] == 0 ? 1 : 0;
    }
    return used <= most_ &&
           absl::c_all_of(groups_[v], [&](const GroupOfRule& own) {
             return absl::c_all_of(set, [&](MachineDeviceId device) {
               const Owner& owner = owners_[own.rule][device.index];
               return owner.variables == 0 || owner.group == own.group;
             });
           });
  }

  void Count(int v, const DeviceSet& set, int by) {
    for (MachineDeviceId device : set) {
      int& users = users_[device.index];
      const bool was_used = users > 0;
      users += by;
      num_used_ += (users > 0 ? 1 : 0) - (was_used ? 1 : 0);
    }
    for (const GroupOfRule& own : groups_[v]) {
      for (MachineDeviceId device : set) {
        Owner& owner = owners_[own.rule][device.index];
        owner.group = own.group;
        owner.variables += by;
      }
    }
  }

  const DeviceSet& Chosen(size_t place) const {
    return allowed_[order_[place]][tried_[place] - 1];
  }

  // Without recursion: there may be a variable for each node. Once the steps
  // are used up, nothing is found.
  bool Choose() {
    steps_left_ = kMostDeviceSteps;
    for (int v : order_)
      steps_left_ += static_cast<int64_t>(allowed_[v].size());
    tried_.assign(order_.size(), 0);
    size_t place = 0;
    while (place < order_.size()) {
      if (TakeNext(place)) {
        if (++place < order_.size()) tried_[place] = 0;
        continue;
      }
      if (place == 0 || steps_left_ < 0) return false;
      --place;
      Count(order_[place], Chosen(place), -1);
    }
    return true;
  }

  // The next set of the variable at this place of the order.
  bool TakeNext(size_t place) {
    const int v = order_[place];
    size_t& tried = tried_[place];
    while (tried < allowed_[v].size()) {
      if (--steps_left_ < 0) return false;
      const DeviceSet& set = allowed_[v][tried++];
      if (!MayHave(v, set)) continue;
      Count(v, set, 1);
      return true;
    }
    return false;
  }

  const std::vector<DeviceRule>& rules_;
  std::vector<std::vector<DeviceSet>> allowed_;  // by variable; leaders: of all
  std::vector<int> leader_;                      // by variable: one it equals
  std::vector<std::vector<GroupOfRule>> groups_;  // by leader
  int most_ = 1 << 30;
  std::vector<int> order_;  // leaders
  // Of the variables that have a set.
  std::vector<size_t> tried_;               // by place in order_
  std::vector<int> users_;                  // by device: variables
  int num_used_ = 0;                        // devices with users
  std::vector<std::vector<Owner>> owners_;  // by rule and device
  int64_t steps_left_ = 0;
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
