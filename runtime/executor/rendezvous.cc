// One counter for each rank.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/rendezvous.h"

namespace partita {

bool Rendezvous::WaitForAll(uint64_t point, const WaitPolicy& policy) {
  for (StepCounter& rank : points_) {
    if (!rank.Wait(point, policy)) return false;
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
