// The transfers of an entry, and the computation that overlaps with them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_TRANSFER_LEDGER_H_
#define PARTITA_TOOLS_VIEWER_TRANSFER_LEDGER_H_

#include <vector>

#include "graph/id_vector.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// The other end of feeds and fetches in a row.
inline constexpr char kCaller[] = "caller";

// Rows for copies between devices, messages, collectives, feeds and fetches, in
// launch order. `view` has its boxes, streams and commands.
std::vector<TransferView> TransferLedger(const Plan& plan, const Entry& entry,
                                         IdSpan<CommandId, Command> commands,
                                         const ViewedEntry& view);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_TRANSFER_LEDGER_H_
