// Whether what a command refers to exists.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_IDS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_IDS_H_

#include <string>

#include "runtime/plan/checker/entry_view.h"

namespace partita {

// "", or the first thing that the command refers to and that does not exist, or
// has and its kind has not, as text for people. Of nodes it knows nothing.
std::string FaultInIds(const EntryView& view, const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_COMMAND_IDS_H_
