// Where the members of a group, or the two ends of a channel, wait for one
// another.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_RENDEZVOUS_H_
#define PARTITA_RUNTIME_EXECUTOR_RENDEZVOUS_H_

#include <cstdint>
#include <vector>

#include "runtime/device/step_counter.h"

namespace partita {

// Every member passes points 1, 2, 3, ... in order, some of which it may leave
// out, over all steps of a session. Who sees that a member has passed a point
// sees what it wrote before.
//
// Thread safety: each member's calls come from one thread; Interrupt may come
// from any.
class Rendezvous {
 public:
  explicit Rendezvous(int members) : passed_(members) {}

  void Pass(int member, uint64_t point) { passed_[member].Raise(point); }
  // True once `other` has passed `point`; false if the policy ended the wait.
  bool Await(int other, uint64_t point, const WaitPolicy& policy) {
    return passed_[other].Wait(point, policy);
  }
  // Passes `point` and awaits that all others do.
  bool Meet(int member, uint64_t point, const WaitPolicy& policy);

  // Makes every waiter look at its policy again.
  void Interrupt();
  // Where a good step would have left the members. Only while none is at work.
  void PassAll(uint64_t point);

 private:
  std::vector<StepCounter> passed_;  // by member
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_RENDEZVOUS_H_
