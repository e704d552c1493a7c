// Every byte of every output is fetched exactly once.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_OUTPUTS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_OUTPUTS_H_

#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

class OutputCoverage {
 public:
  explicit OutputCoverage(const EntryView& view)
      : view_(view), fetched_(view.entry->outputs.size()) {}

  // Command `c` fetched the bytes `shard` of the value in slice `part` of the
  // port.
  void Fetched(int c, int part, const Range& shard);
  void CheckCovered(Findings& findings);

 private:
  struct Block {
    ByteSpan bytes;
    int command;
  };
  const EntryView& view_;
  std::vector<std::vector<Block>> fetched_;  // by port
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_OUTPUTS_H_
