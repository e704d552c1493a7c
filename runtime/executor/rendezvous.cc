// Meetings as counters, one a member.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/rendezvous.h"

namespace partita {

bool Rendezvous::Meet(int member, uint64_t point, const WaitPolicy& policy) {
  Pass(member, point);
  for (StepCounter& other : passed_) {
    if (!other.Wait(point, policy)) return false;
  }
  return true;
}

void Rendezvous::Interrupt() {
  for (StepCounter& member : passed_) member.Interrupt();
}

void Rendezvous::PassAll(uint64_t point) {
  for (StepCounter& member : passed_) member.Raise(point);
}

}  // namespace partita
