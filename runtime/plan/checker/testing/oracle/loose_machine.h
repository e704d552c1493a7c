// A machine that ends commands as early as possible, and keeps no more order
// than every executor does.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_LOOSE_MACHINE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_LOOSE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/checker/testing/oracle/reference.h"
#include "runtime/plan/checker/testing/oracle/terms.h"
#include "runtime/plan/checker/testing/oracle/unrolled.h"

namespace partita {

// The state of a run.
struct MachineState {
  // By op. A queued op has not started. A spoiled op ran while another op
  // accessed its bytes, and leaves junk.
  enum Phase : uint8_t { kQueued, kRunning, kSpoiled, kEnded };
  std::vector<uint8_t> phase;
  Bytes memory;
  // What a running op will write, or what a send or collective gives to its
  // partners.
  std::vector<std::vector<Bytes>> pending;
  std::string Key() const;
};

// Runs ops one start or end at a time; the caller chooses among the possible
// ones. Keeps the first harm.
class LooseMachine {
 public:
  LooseMachine(const Unrolled& program, TermTable& terms,
               const Reference& reference);

  MachineState Initial() const;
  bool CanStart(const MachineState& state, int op) const;
  bool CanEnd(const MachineState& state, int op) const;
  void Start(MachineState& state, int op);
  void End(MachineState& state, int op);
  bool Done(const MachineState& state) const;
  // Compares the persistent bytes after the last step.
  void CheckEnd(const MachineState& state);

  // The first harm seen; empty if there is none.
  const std::string& harm() const { return harm_; }

 private:
  Bytes Load(const MachineState& state, const Addresses& addresses, int op);
  static void Store(MachineState& state, const Addresses& addresses,
                    const Bytes& bytes);
  std::vector<Bytes> ResultsOf(MachineState& state, int op);
  Bytes FeedBytes(const Op& op) const;
  void CheckFetch(int op, const Bytes& bytes);
  void Spoil(MachineState& state, int op);
  bool IsInFlight(const MachineState& state, int send) const;
  void AccessSlots(MachineState& state, int op);
  std::vector<Bytes> Gathered(const MachineState& state, const Op& op,
                              const OpView& node, int value) const;
  Bytes CollectiveResult(const MachineState& state, const Op& op,
                         const OpView& node, int value) const;
  std::vector<Bytes> CollectiveResults(const MachineState& state, int op);
  void BeginStep(MachineState& state, int step) const;
  void Harm(int op, const std::string& what);
  bool StepEnded(const MachineState& state, int step) const;

  const Unrolled& program_;
  TermTable& terms_;
  const Reference& reference_;
  std::string harm_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_LOOSE_MACHINE_H_
