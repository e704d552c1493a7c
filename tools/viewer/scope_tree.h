// Boxes in groups that fold.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_SCOPE_TREE_H_
#define PARTITA_TOOLS_VIEWER_SCOPE_TREE_H_

#include <string>
#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

struct ScopeGroup {
  std::string name;  // without its parents'
  int parent = -1;
};

struct ScopeTree {
  std::vector<ScopeGroup> groups;  // [0] is the root; parents come first
  std::vector<int> group_of;       // by box
};

// By scope; a copy or reorder is with its reader. A group with only one box, or
// only one other group, is omitted. Of more than 32 items of a group, up to 16
// consecutive ones on the same devices form a group of their own, named by the
// first and the last; and so on for those groups. So no group has more than 32
// items.
ScopeTree GroupByScope(const ViewedEntry& entry);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_SCOPE_TREE_H_
