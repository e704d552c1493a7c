// How much of what a node touches a step has displaced from the caches of the
// host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_CACHE_REUSE_H_
#define PARTITA_PLACEMENT_COST_CACHE_REUSE_H_

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "graph/id_vector.h"
#include "graph/kernel_catalog.h"
#include "placement/machine/machine.h"

namespace partita {

// By reuse distance (Mattson, Gecsei, Slutz, Traiger 1970): between two uses of
// a value, nodes touch so many bytes, at most all that the step keeps in
// memory. Steps repeat: the first use follows the last one of the step before.
// A result is written where a value ended, so its distance is the most that
// live values have. Of bytes whose distance is up to an eighth of the cache
// nothing is displaced, from the whole cache on everything, and between the two
// a share that grows with the distance. An estimate: one order for all CPU
// devices, which share the cache, and whole values, however they are split.
// Linear in the graph. Thread safety: const calls may run in parallel.
class CacheReuse {
 public:
  // Of a graph without placements, or a placed one: nodes on other devices than
  // CPUs touch nothing here. Knows nothing if the machine's profile has no size
  // of the cache.
  CacheReuse(const Graph& graph, const Machine& machine);

  // From 0, all in the caches, to 1. Nothing: not known.
  std::optional<double> DisplacedShare(NodeId node,
                                       const DeviceTraits& device) const;

 private:
  bool is_known_ = false;
  IdVector<NodeId, double> shares_;
};

// What a node takes in a step: between the seconds with warm and with cold
// caches, if both were measured and the displaced share is known; else
// `seconds`.
double SecondsInStep(double seconds,
                     const std::optional<CacheSeconds>& by_caches,
                     std::optional<double> share);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_CACHE_REUSE_H_
