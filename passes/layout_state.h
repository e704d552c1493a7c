// Values in the layouts in which their readers want them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_LAYOUT_STATE_H_
#define PARTITA_PASSES_LAYOUT_STATE_H_

#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/device_traits.h"
#include "graph/graph.h"

namespace partita {

// Remembers which value holds which other value in another layout, so that each
// is reordered once.
class LayoutState {
 public:
  explicit LayoutState(Graph& graph) : graph_(graph) {}

  // Seconds that InLayout would cost at run time; constants are packed at
  // compile time for nothing.
  double ReorderSeconds(ValueId value, const Layout& layout,
                        const DeviceTraits& device) const;

  // `value` in `layout`: itself, one made before, or a new constant or
  // `reorder` node before `before` on `placement`. `made` is set to a new
  // reorder node.
  absl::StatusOr<ValueId> InLayout(ValueId value, const Layout& layout,
                                   const Placement& placement, NodeId before,
                                   NodeId& made);

 private:
  ValueId PackConstant(ValueId value, const Layout& layout, NodeId before);

  Graph& graph_;
  absl::flat_hash_map<std::pair<ValueId, std::string>, ValueId> made_;
};

}  // namespace partita

#endif  // PARTITA_PASSES_LAYOUT_STATE_H_
