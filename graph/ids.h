// Typed indices into a graph and its module.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_IDS_H_
#define PARTITA_GRAPH_IDS_H_

#include <compare>
#include <cstdint>
#include <utility>

namespace partita {

// An index with a type of its own for each kind. Default: invalid.
template <typename Tag>
struct Id {
  constexpr Id() = default;
  explicit constexpr Id(int32_t i) : index(i) {}
  constexpr bool valid() const { return index >= 0; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Id& id) {
    return H::combine(std::move(state), id.index);
  }
  int32_t index = -1;
};

using NodeId = Id<struct NodeTag>;        // a node of one Graph
using ValueId = Id<struct ValueTag>;      // an input or result of one Graph
using LiteralId = Id<struct LiteralTag>;  // constant bytes of one Module
using MicroBatchId = Id<struct MicroBatchTag>;  // in a step, in order

// What a node that runs once per step belongs to.
inline constexpr MicroBatchId kFirstMicroBatch{0};

}  // namespace partita

#endif  // PARTITA_GRAPH_IDS_H_
