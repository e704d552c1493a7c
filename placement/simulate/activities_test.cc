// Compares activities with a plain version that looks at all pairs of them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/activities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "placement/cost/host_cores.h"
#include "placement/machine/machine.h"

namespace partita {
namespace {

// The rules, without a heap and without counts.
class PlainActivities {
 public:
  explicit PlainActivities(const IdVector<CommandId, CommandCost>& costs)
      : costs_(costs) {}

  double now() const { return now_; }
  bool empty() const { return active_.empty(); }
  void Add(const Activity& activity) { active_.push_back({activity, false}); }

  std::vector<CommandId> Advance() {
    std::vector<double> ends;
    for (const auto& [activity, flows] : active_) {
      ends.push_back(flows ? now_ + activity.bytes_left / Rate(activity)
                           : activity.fixed_end);
    }
    const double time = *std::min_element(ends.begin(), ends.end());
    std::vector<std::pair<Activity, bool>> going;
    std::vector<CommandId> ended;
    for (size_t i = 0; i < active_.size(); ++i) {
      auto [activity, flows] = active_[i];
      if (ends[i] > time) {
        if (flows) {
          activity.bytes_left *= (ends[i] - time) / (ends[i] - now_);
        }
        going.push_back({activity, flows});
      } else if (IsTransfer(activity) && !flows && activity.bytes_left > 0) {
        going.push_back({activity, true});
      } else {
        ended.push_back(activity.command);
      }
    }
    active_ = std::move(going);
    now_ = time;
    return ended;
  }

 private:
  bool IsTransfer(const Activity& activity) const {
    return costs_[activity.command].on == CommandCost::On::kLink;
  }
  bool Share(const Activity& a, const Activity& b) const {
    const CommandCost& x = costs_[a.command];
    const CommandCost& y = costs_[b.command];
    const bool same_wire = x.link == y.link ||
                           (!x.link->bus.empty() && x.link->bus == y.link->bus);
    return same_wire &&
           (!x.link->duplex || !y.link->duplex || x.forward == y.forward);
  }
  double Rate(const Activity& transfer) const {
    const auto sharers =
        std::count_if(active_.begin(), active_.end(), [&](const auto& other) {
          return other.second && Share(transfer, other.first);
        });
    return costs_[transfer.command].link->bandwidth / sharers;
  }

  const IdVector<CommandId, CommandCost>& costs_;
  double now_ = 0;
  std::vector<std::pair<Activity, bool>> active_;  // and whether it flows
};

std::vector<Link> LinksOfAllSorts() {
  return {
      {.from = "a", .to = "b", .bandwidth = 8},
      {.from = "a", .to = "c", .bandwidth = 3, .duplex = false},
      {.from = "b", .to = "c", .bandwidth = 5, .bus = "x"},
      {.from = "b", .to = "d", .bandwidth = 7, .bus = "x"},
      {.from = "c", .to = "d", .bandwidth = 2, .duplex = false, .bus = "x"}};
}

IdVector<CommandId, CommandCost> RandomCosts(const std::vector<Link>& links,
                                             int commands,
                                             std::mt19937& random) {
  IdVector<CommandId, CommandCost> costs;
  for (int i = 0; i < commands; ++i) {
    // Few values, so that many activities end at the same time.
    CommandCost cost{.on = CommandCost::On::kCompute,
                     .seconds = 0.5 * (random() % 4)};
    if (random() % 3 != 0) {
      cost.on = CommandCost::On::kLink;
      cost.link = &links[random() % links.size()];
      cost.forward = random() % 2 == 0;
      cost.bytes = random() % 5;
    }
    costs.Add(cost);
  }
  return costs;
}

TEST(Activities, EndAsInThePlainVersion) {
  const std::vector<Link> links = LinksOfAllSorts();
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    const auto costs = RandomCosts(links, 60, random);
    Activities activities(costs);
    PlainActivities plain(costs);
    for (int next = 0; next < 60 || !plain.empty();) {
      for (int more = random() % 4; next < 60 && (more > 0 || plain.empty());
           --more, ++next) {
        const CommandCost& cost = costs[CommandId(next)];
        const Activity activity{.command = CommandId(next),
                                .fixed_end = plain.now() + cost.seconds,
                                .bytes_left = cost.bytes};
        activities.Add(activity);
        plain.Add(activity);
      }
      std::vector<CommandId> ended;
      for (const Activity& activity : activities.Advance()) {
        ended.push_back(activity.command);
      }
      ASSERT_EQ(ended, plain.Advance()) << "round " << round;
      ASSERT_EQ(activities.now(), plain.now()) << "round " << round;
      ASSERT_EQ(activities.empty(), plain.empty());
    }
  }
}

// Where k of equal demands remain on c cores, each has a share of c / k.
TEST(Activities, WorkOnCoresEndsAsUnderProcessorSharing) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    const int count = 1 + static_cast<int>(random() % 12);
    const int cores = 1 + static_cast<int>(random() % 4);
    std::vector<double> work;
    for (int i = 0; i < count; ++i) work.push_back(0.25 * (random() % 40));
    IdVector<CommandId, CommandCost> costs;
    for (const double seconds : work) {
      costs.Add({.on = CommandCost::On::kCompute, .seconds = seconds});
      costs[CommandId(static_cast<int>(costs.size()) - 1)].cores = 1;
    }
    Machine machine;
    machine.host.cores = cores;
    Activities activities(costs, HostCores(machine));
    for (CommandId c : costs.ids()) {
      activities.Add({.command = c, .fixed_end = costs[c].seconds});
    }
    std::sort(work.begin(), work.end());
    double end = 0, done = 0;
    for (int i = 0; i < count;) {
      end += (work[i] - done) * std::max(1.0, 1.0 * (count - i) / cores);
      done = work[i];
      const size_t ended = activities.Advance().size();
      EXPECT_NEAR(activities.now(), end, 1e-9) << "round " << round;
      for (size_t k = 0; k < ended; ++k, ++i) EXPECT_EQ(work[i], done);
    }
    EXPECT_TRUE(activities.empty());
  }
}

}  // namespace
}  // namespace partita
