// Recognises stored values and views.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/node_roles.h"

#include "graph/core_ops.h"
#include "graph/views.h"

namespace partita {

bool IsStored(const OpView& node) {
  return node.is(kConstant) || node.is(kVariable);
}

bool IsView(const OpView& node) { return ViewsOf(node).has_value(); }

}  // namespace partita
