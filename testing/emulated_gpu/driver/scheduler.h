// Which command runs next.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_SCHEDULER_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_SCHEDULER_H_

#include <functional>
#include <random>
#include <vector>

#include "testing/emulated_gpu/driver/command.h"
#include "testing/emulated_gpu/driver/options.h"

namespace partita::emulated_gpu {

// Keeps the commands that may start, and draws one of them.
class Scheduler {
 public:
  Scheduler(uint64_t seed, Order order)
      : seed_(seed), order_(order), random_(seed) {}
  ~Scheduler();

  // A command that starts when all of `after` are done.
  void Add(const CommandRef& command, const std::vector<CommandRef>& after);
  // Takes one out; null if none may start.
  CommandRef Take();
  // Its successors may start.
  void Finish(const CommandRef& command);
  // Commands that were added and are not done.
  int64_t pending() const { return pending_; }
  // A number below `count`.
  uint64_t Draw(uint64_t count) { return random_() % count; }
  // Whether what may be late is as late as can be.
  bool is_late() const {
    return order_ == Order::kStarveOneStream || order_ == Order::kLateWaits;
  }
  bool runs_at_once() const { return order_ == Order::kAtOnce; }

 private:
  size_t Choose();
  bool IsStarved(const Command& command) const;

  uint64_t seed_;
  Order order_;
  std::mt19937_64 random_;
  std::vector<CommandRef> ready_;
  int64_t pending_ = 0;
  ChainId chains_ = 0;  // the highest that was seen
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_SCHEDULER_H_
