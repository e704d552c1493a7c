// Where a node runs, how its values are divided, and what computes it: what
// planner and kernel choice write on a graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_PLACEMENT_H_
#define PARTITA_GRAPH_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace partita {

enum class Reduction : uint8_t { kSum, kMax, kMin, kAnd, kOr };
absl::string_view ReductionName(Reduction reduction);

// How one value lies on the members of a device set.
struct Sharding {
  enum class Kind : uint8_t { kReplicated, kSplit, kPartial };
  friend bool operator==(const Sharding&, const Sharding&) = default;

  Kind kind = Kind::kReplicated;
  int dim = 0;                            // kSplit: the dimension divided
  Reduction reduction = Reduction::kSum;  // kPartial: how the members join
  // kSplit: so many indices of the dimension stay together, as those of one
  // sample do where a reshape has merged samples and tokens. It divides the
  // extent, and is 1 where members hold equal numbers of units, and so the same
  // without it.
  int64_t unit = 1;
};

// Indices [begin, end) of a dimension.
struct Interval {
  int64_t size() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;

  int64_t begin = 0;
  int64_t end = 0;
};

// What member `member` of `members` holds of a split dimension of extent n:
// of its n/unit units the m-th share, so that uneven extents are right. Extents
// are below 2^46 and members below 2^16, so no product overflows.
inline Interval MemberShare(int64_t extent, int64_t unit, int member,
                            int members) {
  const int64_t units = extent / unit;
  return {units * member / members * unit,
          units * (member + 1) / members * unit};
}

// The devices of a node, by name ("gpu:0"), and the sharding of its values;
// until a planner has run, the user's own choice (a pin) on the nodes that have
// one. No devices: not placed yet. One device: nothing is divided. With
// several, `operands` and `results` hold one entry per value, or are empty when
// all are replicated.
struct Placement {
  bool placed() const { return !devices.empty(); }
  friend bool operator==(const Placement&, const Placement&) = default;

  absl::InlinedVector<std::string, 1> devices;
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
};

// An operand whose bytes a result may take over exactly.
struct InPlacePair {
  int operand;
  int result;
  friend bool operator==(const InPlacePair&, const InPlacePair&) = default;
};

// What computes a node, written by the pass choose_kernels.
struct KernelBinding {
  friend bool operator==(const KernelBinding&, const KernelBinding&) = default;

  std::string kernel;     // "onednn.conv"
  int64_t workspace = 0;  // bytes of scratch that the plan must reserve
  std::vector<InPlacePair> in_place;  // what this kernel tolerates
  // Names everything that fixes the result's bits beside operands and types:
  // kernel, library version, instruction set, threads, order of reduction.
  std::string arithmetic;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_PLACEMENT_H_
