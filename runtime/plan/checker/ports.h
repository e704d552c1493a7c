// The slice of the graph's inputs and outputs that each micro-batch feeds and
// fetches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PORTS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PORTS_H_

#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// A port has the type of the graph's value, which is then the same in every
// micro-batch; or it holds all M > 1 micro-batches in sequence, and micro-batch
// m uses the m-th slice.
class PortSlices {
 public:
  // Reports ports with other types. After a finding, no other member may be
  // called.
  PortSlices(const EntryView& view, Findings& findings);

  bool input_sliced(int port) const { return inputs_[port]; }
  bool output_sliced(int port) const { return outputs_[port]; }
  // The rank on `device` among the devices that make `value`; -1: none.
  int RankOn(ValueId value, DeviceId device) const;

 private:
  const EntryView& view_;
  std::vector<bool> inputs_;
  std::vector<bool> outputs_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PORTS_H_
