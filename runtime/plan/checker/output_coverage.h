// Which bytes of the outputs a step has fetched.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_OUTPUT_COVERAGE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_OUTPUT_COVERAGE_H_

#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// Every byte of every output is fetched exactly once.
class OutputCoverage {
 public:
  // `view` must outlive this.
  explicit OutputCoverage(const EntryView& view)
      : view_(view), fetched_(view.entry->outputs.size()) {}

  // Command `c` fetched the bytes `shard` of the value in the port's slice for
  // `micro_batch`.
  void Fetched(CommandId c, MicroBatchId micro_batch, const Range& shard);
  // Reports each output with bytes that were fetched not once.
  void CheckCovered(Findings& findings);

 private:
  struct Block {
    ByteSpan bytes;
    CommandId command;
  };
  const EntryView& view_;
  std::vector<std::vector<Block>> fetched_;  // by port
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_OUTPUT_COVERAGE_H_
