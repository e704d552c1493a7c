// The transfers of an entry, and the computation that overlaps with them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_TRANSFER_LEDGER_H_
#define PARTITA_TOOLS_VIEWER_TRANSFER_LEDGER_H_

#include <utility>
#include <vector>

#include "graph/id_vector.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// A union of time intervals. Sorted once, since every transfer queries it.
class CoveredTime {
 public:
  explicit CoveredTime(std::vector<std::pair<double, double>> intervals);
  // Seconds of [start, end) that are in at least one of the intervals.
  double Within(double start, double end) const;

 private:
  double Before(double time) const;

  std::vector<std::pair<double, double>> spans_;  // disjoint, in order of time
  std::vector<double> seconds_;                   // of all spans before one
};

// Rows for copies between devices, messages, collectives, feeds and fetches, in
// launch order. `view` has its boxes, streams and commands.
std::vector<TransferView> TransferLedger(const Plan& plan, const Entry& entry,
                                         IdSpan<CommandId, Command> commands,
                                         const ViewedEntry& view);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_TRANSFER_LEDGER_H_
