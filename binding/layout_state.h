// Provides values in the layouts that their readers need.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_LAYOUT_STATE_H_
#define PARTITA_BINDING_LAYOUT_STATE_H_

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
#include "graph/kernel_catalog.h"

namespace partita {

// Constants that are packed once for all plans of a compilation.
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

// Remembers the reordered values of each value, so that each is reordered once.
class LayoutState {
 public:
  LayoutState(Graph& graph, const KernelCatalog& catalog,
              PackedConstants& packed)
      : graph_(graph), catalog_(catalog), packed_(packed) {}

  using Devices = absl::InlinedVector<std::string, 1>;

  // Seconds that InLayout costs at run time on one of `devices`, which are all
  // like `device`, at the catalog's price. Constants are packed at compile time
  // and cost 0.
  double ReorderSeconds(ValueId value, const Layout& layout,
                        const Devices& devices,
                        const DeviceTraits& device) const;

  // `value` in `layout`: itself, an existing reordered value, or a new constant
  // or `reorder` node before `before` on `devices`, with the same sharding.
  // `made` is set to a new reorder node.
  absl::StatusOr<ValueId> InLayout(ValueId value, const Layout& layout,
                                   const Devices& devices, NodeId before,
                                   NodeId& made);

 private:
  // Value, layout and devices; no devices for constants packed with their
  // source.
  using Key = std::tuple<ValueId, std::string, std::vector<std::string>>;
  Key KeyOf(ValueId value, const Layout& layout, const Devices& devices) const;
  // A constant that every device has as a whole.
  bool IsPackable(ValueId value) const;
  ValueId PackConstant(ValueId value, const Layout& layout, NodeId before);

  Graph& graph_;
  const KernelCatalog& catalog_;
  PackedConstants& packed_;
  std::map<Key, ValueId> made_;
};

}  // namespace partita

#endif  // PARTITA_BINDING_LAYOUT_STATE_H_
