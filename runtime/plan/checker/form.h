// Form: everything that a plan names exists, fits, and agrees with its graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_FORM_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_FORM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// Sizes beyond these are refused, so that the checker's arithmetic does not
// overflow and its work is bounded.
inline constexpr int64_t kMaxPartBytes = int64_t{1} << 50;
inline constexpr int64_t kMaxAlignment = int64_t{2} << 20;  // a huge page
inline constexpr int64_t kMaxBlocks = int64_t{1} << 22;     // of all accesses
inline constexpr int kMaxSpareEvents = 1024;  // besides one for each command

// True for an index into a list of `count` entries.
inline bool InBounds(int32_t id, size_t count) {
  return id >= 0 && static_cast<size_t>(id) < count;
}

// The number of entries.
void CheckEntries(const Plan& plan, Findings& findings);

// The plan's devices.
void CheckDevices(const Plan& plan, Findings& findings);

// The declarations of an entry: buffers, streams, groups, channels. Needs:
// devices without findings.
void CheckDeclarations(const EntryView& view, Findings& findings);

// Callers find entries and ports by name, so each has the name that the graph
// gives it, and names are unique.
void CheckNames(const EntryView& view, Findings& findings);

// The shards of each sharded node together are the node. Needs: declarations
// without findings.
void CheckShardings(const EntryView& view, Findings& findings);

// Copies, collectives and sums over micro-batches keep the layout of what they
// pass on. Needs: shardings without findings.
void CheckLayouts(const EntryView& view, Findings& findings);

// Each accumulation over micro-batches covers all micro-batches of the entry.
void CheckAccumulations(const EntryView& view, Findings& findings);

// The number of events is at most what the commands can use. Needs: an expanded
// schedule.
void CheckEvents(const EntryView& view, Findings& findings);

// Each expanded command by itself: ids, kinds, devices, sizes. Needs:
// declarations without findings.
void CheckCommands(const EntryView& view, Findings& findings);

// Message slots overlap nothing that commands access. Needs: commands without
// findings.
void CheckSlots(const EntryView& view, Findings& findings);

// Persistent values of all entries: their contents and devices; different
// values do not overlap. Needs: declarations of all entries without findings.
void CheckPersistent(const std::vector<EntryView>& views, Findings& findings);

// Every shard of a sharded variable that some entry updates is persistent.
// Needs: persistent values without findings.
void CheckVariableShards(const std::vector<EntryView>& views,
                         Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_FORM_H_
