// Checks that everything a command refers to exists.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_IDS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_IDS_H_

#include <string>

#include "runtime/plan/checker/entry_view.h"

namespace partita {

// Returns "", or a message about the first reference that does not exist, or
// that this kind of command must not have. Does not look at nodes.
std::string FaultInIds(const EntryView& view, const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_IDS_H_
