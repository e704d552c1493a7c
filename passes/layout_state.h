// Values in the layouts in which their readers want them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_LAYOUT_STATE_H_
#define PARTITA_PASSES_LAYOUT_STATE_H_

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
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

  using Devices = absl::InlinedVector<std::string, 1>;

  // Seconds that InLayout would cost at run time on one of `devices`, all like
  // `device`; constants are packed at compile time for nothing.
  double ReorderSeconds(ValueId value, const Layout& layout,
                        const Devices& devices,
                        const DeviceTraits& device) const;

  // `value` in `layout`: itself, one made before, or a new constant or
  // `reorder` node before `before` on `devices`, where the value is cut as
  // before. `made` is set to a new reorder node.
  absl::StatusOr<ValueId> InLayout(ValueId value, const Layout& layout,
                                   const Devices& devices, NodeId before,
                                   NodeId& made);

 private:
  // Value, layout and devices; none for what is packed where its source lies.
  using Key = std::tuple<ValueId, std::string, std::vector<std::string>>;
  Key KeyOf(ValueId value, const Layout& layout, const Devices& devices) const;
  // A constant of which every device holds all.
  bool IsPackable(ValueId value) const;
  ValueId PackConstant(ValueId value, const Layout& layout, NodeId before);

  Graph& graph_;
  PackedConstants& packed_;
  std::map<Key, ValueId> made_;
};

}  // namespace partita

#endif  // PARTITA_PASSES_LAYOUT_STATE_H_
