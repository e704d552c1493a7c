// Synchronizes the ranks of a group, or the two ends of a channel.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_RENDEZVOUS_H_
#define PARTITA_RUNTIME_EXECUTOR_RENDEZVOUS_H_

#include <cstdint>
#include <vector>

#include "runtime/device/step_counter.h"

namespace partita {

// Every rank arrives at points 1, 2, 3, ... in increasing order, over all steps
// of a session; it may skip points. A rank that sees another arrive also sees
// what the other wrote before.
//
// Thread safety: each rank's calls come from one thread. Interrupt may come
// from any thread.
class Rendezvous {
 public:
  explicit Rendezvous(int ranks) : points_(ranks) {}

  void Arrive(int rank, uint64_t point) { points_[rank].Raise(point); }
  // True once `other` has arrived at `point`; false if the policy ended the
  // wait.
  bool Wait(int other, uint64_t point, const WaitPolicy& policy) {
    return points_[other].Wait(point, policy);
  }
  // True once all ranks have arrived at `point`.
  bool WaitForAll(uint64_t point, const WaitPolicy& policy);

  // Makes every waiting thread check its policy again.
  void Interrupt();
  // Sets all ranks to the state after a good step. Only while no rank runs.
  void ArriveAll(uint64_t point);

 private:
  std::vector<StepCounter> points_;  // points reached, by rank
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_RENDEZVOUS_H_
