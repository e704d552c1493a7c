// What a reader of a plan looks at first, ranked.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_FINDINGS_H_
#define PARTITA_TOOLS_VIEWER_FINDINGS_H_

#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

// The findings of one entry, by the seconds of the step that they are about;
// at most kMostFindings. Nothing without times. About:
//  * waits: a device before and between its kernels, and what ran meanwhile
//    (device_waits.h); for the five devices that wait longest. Needs causes;
//  * the longest node of the critical path;
//  * links that are busy for a third of the step; those with the same load are
//    one finding;
//  * nodes that run by a reference loop, which is slow, by the device that
//    spends the most time in them;
//  * arenas that fill at least nine tenths of a device's memory;
//  * devices that compute less than half of what the busiest one does, at most
//    three;
//  * a step of more than one and a half times its lower bound, and the device
//    or the link that the bound names.
// Equal devices are one: the finding is about the first of them. Needs: all
// other parts of the view, `equal_devices` too.
inline constexpr size_t kMostFindings = 12;
std::vector<FindingView> FindingsOf(const PlanView& view,
                                    const ViewedEntry& entry);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_FINDINGS_H_
