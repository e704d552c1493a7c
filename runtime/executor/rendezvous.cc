// One counter for each rank.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/rendezvous.h"

namespace partita {

bool Rendezvous::ArriveAndWait(int rank, uint64_t point,
                               const WaitPolicy& policy) {
  Arrive(rank, point);
  for (StepCounter& other : points_) {
    if (!other.Wait(point, policy)) return false;
  }
  return true;
}

void Rendezvous::Interrupt() {
  for (StepCounter& rank : points_) rank.Interrupt();
}

void Rendezvous::ArriveAll(uint64_t point) {
  for (StepCounter& rank : points_) rank.Raise(point);
}

}  // namespace partita
