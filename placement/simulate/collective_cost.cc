// Rings and trees over the links of a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/collective_cost.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// One member's way to the next.
struct Hop {
  const Link* link = nullptr;
  bool forward = true;  // along the link, from `from` to `to`
};

absl::StatusOr<std::vector<Hop>> RingOf(const std::vector<std::string>& members,
                                        const Machine& machine) {
  std::vector<Hop> ring;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string& from = members[i];
    const std::string& to = members[(i + 1) % members.size()];
    const Link* link = machine.FindLink(from, to);
    if (link == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "found a collective over ", from, " and ", to,
          " and no link between them in machine ", machine.name,
          "; expected one; simulate on the machine that the plan is for"));
    }
    ring.push_back({link, link->from == from});
  }
  return ring;
}

bool Share(const Hop& a, const Hop& b) {
  const bool together =
      a.link == b.link || (!a.link->bus.empty() && a.link->bus == b.link->bus);
  const bool duplex = a.link->duplex && b.link->duplex;
  return together && (!duplex || a.forward == b.forward);
}

// Of one step in which every member sends `bytes` to the next.
double RingStep(const std::vector<Hop>& ring, double bytes) {
  double slowest = 0;
  for (const Hop& hop : ring) {
    const auto sharers = std::count_if(
        ring.begin(), ring.end(), [&](const Hop& o) { return Share(hop, o); });
    slowest = std::max(
        slowest, hop.link->latency + bytes * sharers / hop.link->bandwidth);
  }
  return slowest;
}

// Infinite if two members have no link.
double TreeStep(const std::vector<std::string>& members, const Machine& machine,
                double bytes) {
  double slowest = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Link* link = machine.FindLink(members[i], members[j]);
      if (link == nullptr) return std::numeric_limits<double>::infinity();
      slowest = std::max(slowest, link->latency + bytes / link->bandwidth);
    }
  }
  return slowest;
}

}  // namespace

absl::StatusOr<double> CollectiveSeconds(
    CollectiveKind kind, double bytes, const std::vector<std::string>& members,
    const Machine& machine) {
  const size_t count = members.size();
  if (count < 2) return 0;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Hop> ring,
                           RingOf(members, machine));
  const double steps = static_cast<double>(count) - 1;
  if (kind == CollectiveKind::kAllGather) return steps * RingStep(ring, bytes);
  const double scattered = steps * RingStep(ring, bytes / count);
  if (kind != CollectiveKind::kAllReduce) return scattered;
  const int levels = std::bit_width(count - 1);
  return std::min(2 * scattered,
                  2 * levels * TreeStep(members, machine, bytes));
}

}  // namespace partita
