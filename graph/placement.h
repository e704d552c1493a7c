// A node's devices, the shardings of its values, and its kernel: what planner
// and kernel choice write on a graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_PLACEMENT_H_
#define PARTITA_GRAPH_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "graph/arithmetic.h"
#include "graph/kernel_id.h"

namespace partita {

enum class Reduction : uint8_t { kSum, kMax, kMin, kAnd, kOr };
absl::string_view ReductionName(Reduction reduction);

// The sharding of one value over the ranks of a device set.
struct Sharding {
  enum class Kind : uint8_t { kReplicated, kSplit, kPartial };
  // Compares the fields that the kind uses.
  friend bool operator==(const Sharding& a, const Sharding& b);

  Kind kind = Kind::kReplicated;
  int dim = 0;                            // kSplit: the split dimension
  Reduction reduction = Reduction::kSum;  // kPartial: of the ranks' values
  // kSplit: the number of indices that stay together, such as the tokens of one
  // sample after a reshape that merges samples and tokens. It divides the
  // extent. It is 1 if all ranks have equal numbers of units, as it makes no
  // difference then.
  int64_t unit = 1;
};

// Indices [begin, end) of a dimension.
struct Interval {
  int64_t size() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;

  int64_t begin = 0;
  int64_t end = 0;
};

// The interval of rank `rank` of `ranks` in a split dimension: the extent's
// units are distributed as evenly as possible. Extents are below 2^46 and ranks
// below 2^16, so no product overflows.
inline Interval RankInterval(int64_t extent, int64_t unit, int rank,
                             int ranks) {
  const int64_t units = extent / unit;
  return {units * rank / ranks * unit, units * (rank + 1) / ranks * unit};
}

// The devices of a node, by name ("gpu:0"), and the shardings of its values.
// Before a planner runs, nodes with a pin have the user's choice, and those
// that a constraint is about its groups. No devices: not placed yet. One
// device: values are whole. Several devices: `operands` and `results` have one
// entry per value, or are empty if all are replicated.
struct Placement {
  bool placed() const { return !devices.empty(); }
  friend bool operator==(const Placement&, const Placement&) = default;

  absl::InlinedVector<std::string, 1> devices;
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
  // Numbers of the groups of nodes that the user keeps together, or apart from
  // others; ascending (placement/planner/constraint_groups.h).
  std::vector<int> groups;
};

// A result that may overwrite an operand, exactly in place.
struct InPlacePair {
  int operand;
  int result;
  friend bool operator==(const InPlacePair&, const InPlacePair&) = default;
};

// The kernel of a node, written by ChooseKernels (binding/choose_kernels.h).
struct KernelBinding {
  friend bool operator==(const KernelBinding&, const KernelBinding&) = default;

  KernelId kernel;
  int64_t workspace = 0;  // scratch bytes that the plan must reserve
  std::vector<InPlacePair> in_place;  // pairs that this kernel supports
  Arithmetics arithmetics;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_PLACEMENT_H_
