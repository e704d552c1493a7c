// Devices that do the same, which a page folds to one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_EQUAL_DEVICES_H_
#define PARTITA_TOOLS_VIEWER_EQUAL_DEVICES_H_

#include <string>
#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

// As PlanView::equal_devices. Two devices do the same if kind, memory and arena
// are equal, and in every entry the number of nodes and of commands by kind;
// their seconds of kernels and their peaks may differ by a hundredth. Needs:
// all entries.
std::vector<std::vector<int>> EqualDevices(const PlanView& view);

// "gpu:0"; "gpu:0 and 7 like it".
std::string NameOfEqual(const PlanView& view, const std::vector<int>& devices);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_EQUAL_DEVICES_H_
