// Form: everything that a plan says exists, fits and agrees with its graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_FORM_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_FORM_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// Sizes beyond these are refused, so that no arithmetic of the checker
// overflows and no plan makes it work for ever.
inline constexpr int64_t kMaxPartBytes = int64_t{1} << 50;
inline constexpr int64_t kMaxAlignment = int64_t{2} << 20;  // a huge page
inline constexpr int64_t kMaxBlocks = int64_t{1} << 22;     // of all accesses
inline constexpr int kMaxSpareEvents = 1024;  // beside one for each command

// How many entries there are.
void CheckEntries(const Plan& plan, Findings& findings);

// The plan's devices.
void CheckDevices(const Plan& plan, Findings& findings);

// What an entry declares: buffers, streams, groups, channels. Needs: devices
// without findings.
void CheckDeclarations(const EntryView& view, Findings& findings);

// Callers find entries and ports by name: each is called what the graph calls
// it, and once.
void CheckNames(const EntryView& view, Findings& findings);

// Each node of the placed graph that is divided: pieces that, put together, are
// the node. Needs: declarations without findings.
void CheckCuts(const EntryView& view, Findings& findings);

// Each sum over the micro-batches of a step goes over all that the entry has.
void CheckSums(const EntryView& view, Findings& findings);

// No more events than commands could use. Needs: the schedule written out.
void CheckEvents(const EntryView& view, Findings& findings);

// Each expanded command by itself: ids, kinds, devices, sizes. Needs:
// declarations without findings.
void CheckCommands(const EntryView& view, Findings& findings);

// Message slots touch nothing that commands touch. Needs: commands without
// findings.
void CheckSlots(const EntryView& view, Findings& findings);

// Persistent values of all entries: what they hold, where, no overlap of
// unlike ones. Needs: declarations of all entries without findings.
void CheckPersistent(const std::vector<EntryView>& views, Findings& findings);

// Every part of a divided variable that some entry updates is persistent.
// Needs: persistent values without findings.
void CheckParts(const std::vector<EntryView>& views, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_FORM_H_
