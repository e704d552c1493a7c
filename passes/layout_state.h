// Values in the layouts in which their readers want them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_LAYOUT_STATE_H_
#define PARTITA_PASSES_LAYOUT_STATE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/device_traits.h"
#include "graph/graph.h"

namespace partita {

// Constants packed once for all the plans that a compilation tries.
class PackedConstants {
 public:
  // `constant` in `layout`. The bytes of `constant` must outlive this object.
  std::shared_ptr<const HostTensor> Get(const HostTensor& constant,
                                        const Layout& layout);

 private:
  absl::flat_hash_map<std::pair<const void*, std::string>,
                      std::shared_ptr<const HostTensor>>
      packed_;
};

// Remembers which value holds which other value in another layout, so that each
// is reordered once.
class LayoutState {
 public:
  LayoutState(Graph& graph, PackedConstants& packed)
      : graph_(graph), packed_(packed) {}

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
  PackedConstants& packed_;
  absl::flat_hash_map<std::pair<ValueId, std::string>, ValueId> made_;
};

}  // namespace partita

#endif  // PARTITA_PASSES_LAYOUT_STATE_H_
