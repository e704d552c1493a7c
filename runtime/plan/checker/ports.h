// What part of a graph's inputs and outputs each micro-batch feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PORTS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PORTS_H_

#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// A port has the type of the graph's value, and is then the same in every
// micro-batch; or that of all M > 1 micro-batches one after the other, and
// micro-batch m has its M-th part.
class PortSlices {
 public:
  // Reports ports that are neither. Nothing may be asked after a finding.
  PortSlices(const EntryView& view, Findings& findings);

  bool input_sliced(int port) const { return inputs_[port]; }
  bool output_sliced(int port) const { return outputs_[port]; }
  // Which member of the devices that make `value` lies on `device`; -1: none.
  int MemberOn(ValueId value, DeviceId device) const;

 private:
  const EntryView& view_;
  std::vector<bool> inputs_;
  std::vector<bool> outputs_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PORTS_H_
