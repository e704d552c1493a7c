// Rings, chains and trees over the links of a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/collective_cost.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Of a broadcast down a chain.
constexpr int kMostPieces = 1024;

// A route over its link.
struct Hop {
  const Link* link = nullptr;
  bool forward = true;  // along the link, from `from` to `to`
};

absl::StatusOr<std::vector<Hop>> HopsOf(const std::vector<Route>& routes,
                                        const Machine& machine) {
  std::vector<Hop> hops;
  for (const Route& route : routes) {
    const Link* link = machine.FindLink(route.from, route.to);
    if (link == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "found a collective over ", route.from, " and ", route.to,
          " and no link between them in machine ", machine.name,
          "; expected one; simulate on the machine that the plan is for"));
    }
    hops.push_back({link, link->from == route.from});
  }
  return hops;
}

// Each to the next; the last to the first if the chain is `closed`.
std::vector<Route> RoutesAlong(const std::vector<std::string>& members,
                               bool closed) {
  std::vector<Route> routes;
  for (size_t i = 0; i + !closed < members.size(); ++i) {
    routes.push_back({members[i], members[(i + 1) % members.size()]});
  }
  return routes;
}

bool Share(const Hop& a, const Hop& b) {
  const bool together =
      a.link == b.link || (!a.link->bus.empty() && a.link->bus == b.link->bus);
  const bool duplex = a.link->duplex && b.link->duplex;
  return together && (!duplex || a.forward == b.forward);
}

// Of one step in which `bytes` go over every hop.
double StepOver(const std::vector<Hop>& hops, double bytes) {
  double slowest = 0;
  for (const Hop& hop : hops) {
    const auto sharers = std::count_if(
        hops.begin(), hops.end(), [&](const Hop& o) { return Share(hop, o); });
    slowest = std::max(
        slowest, hop.link->latency + bytes * sharers / hop.link->bandwidth);
  }
  return slowest;
}

double ChainSeconds(const std::vector<Hop>& hops, double bytes) {
  double best = std::numeric_limits<double>::infinity();
  for (int pieces = 1; pieces <= kMostPieces; pieces *= 2) {
    const double steps = static_cast<double>(hops.size()) + pieces - 1;
    best = std::min(best, steps * StepOver(hops, bytes / pieces));
  }
  return best;
}

// In each step whoever has the bytes sends them to one that has not. Sums come
// up the same routes, last step first, in the same time: links are as fast
// either way.
absl::StatusOr<double> TreeSeconds(const std::vector<std::string>& members,
                                   double bytes, const Machine& machine) {
  double seconds = 0;
  for (size_t have = 1; have < members.size(); have *= 2) {
    std::vector<Route> routes;
    for (size_t i = 0; i < have && have + i < members.size(); ++i) {
      routes.push_back({members[i], members[have + i]});
    }
    PARTITA_ASSIGN_OR_RETURN(const double step,
                             TransferSeconds(bytes, routes, machine));
    seconds += step;
  }
  return seconds;
}

}  // namespace

absl::StatusOr<double> CollectiveSeconds(
    CollectiveKind kind, double bytes, const std::vector<std::string>& members,
    const Machine& machine) {
  const size_t count = members.size();
  if (count < 2) return 0;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Hop> ring,
                           HopsOf(RoutesAlong(members, true), machine));
  const double steps = static_cast<double>(count) - 1;
  if (kind == CollectiveKind::kAllGather) return steps * StepOver(ring, bytes);
  const double scattered = steps * StepOver(ring, bytes / count);
  if (kind != CollectiveKind::kAllReduce) return scattered;
  const absl::StatusOr<double> tree = TreeSeconds(members, bytes, machine);
  return tree.ok() ? std::min(2 * scattered, 2 * *tree) : 2 * scattered;
}

absl::StatusOr<double> BroadcastSeconds(double bytes,
                                        const std::vector<std::string>& chain,
                                        const Machine& machine) {
  const absl::StatusOr<std::vector<Hop>> hops =
      HopsOf(RoutesAlong(chain, false), machine);
  const absl::StatusOr<double> tree = TreeSeconds(chain, bytes, machine);
  if (!hops.ok()) return tree;
  const double passed_on = ChainSeconds(*hops, bytes);
  return tree.ok() ? std::min(passed_on, *tree) : passed_on;
}

absl::StatusOr<double> TransferSeconds(double bytes,
                                       const std::vector<Route>& routes,
                                       const Machine& machine) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Hop> hops,
                           HopsOf(routes, machine));
  return StepOver(hops, bytes);
}

}  // namespace partita
