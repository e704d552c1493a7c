// Rings, chains and trees over the links of a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/collective_cost.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/cost/wire_sharers.h"

namespace partita {
namespace {

// Of a broadcast along a chain.
constexpr int kMostChunks = 1024;

absl::StatusOr<std::vector<Hop>> HopsOf(const std::vector<Route>& routes,
                                        const LinkTable& links) {
  std::vector<Hop> hops;
  for (const Route& route : routes) {
    const Link* link = links.Find(route.from, route.to);
    if (link == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "found a collective over ", route.from, " and ", route.to,
          " and no link between them in machine ", links.machine().name,
          "; expected one; simulate on the machine that the plan is for"));
    }
    hops.push_back({link, link->from == route.from});
  }
  return hops;
}

// Routes from each rank to the next; from the last to the first if `closed`.
std::vector<Route> RoutesAlong(const std::vector<std::string>& ranks,
                               bool closed) {
  std::vector<Route> routes;
  for (size_t i = 0; i + !closed < ranks.size(); ++i) {
    routes.push_back({ranks[i], ranks[(i + 1) % ranks.size()]});
  }
  return routes;
}

// Seconds of a step in which `bytes` go over every hop.
double StepOver(const std::vector<Hop>& hops, double bytes) {
  WireSharers sharers;
  for (const Hop& hop : hops) sharers.Add(hop);
  double slowest = 0;
  for (const Hop& hop : hops) {
    slowest = std::max(slowest, hop.link->latency + bytes * sharers.With(hop) /
                                                        hop.link->bandwidth);
  }
  return slowest;
}

double ChainSeconds(const std::vector<Hop>& hops, double bytes) {
  double best = std::numeric_limits<double>::infinity();
  for (int chunks = 1; chunks <= kMostChunks; chunks *= 2) {
    const double steps = static_cast<double>(hops.size()) + chunks - 1;
    best = std::min(best, steps * StepOver(hops, bytes / chunks));
  }
  return best;
}

// A binomial tree: in each step every rank with the bytes sends them to one
// without. A reduction uses the same routes in reverse order, in the same time,
// as links have the same speed in both directions.
absl::StatusOr<double> TreeSeconds(const std::vector<std::string>& ranks,
                                   double bytes, const LinkTable& links) {
  double seconds = 0;
  for (size_t have = 1; have < ranks.size(); have *= 2) {
    std::vector<Route> routes;
    for (size_t i = 0; i < have && have + i < ranks.size(); ++i) {
      routes.push_back({ranks[i], ranks[have + i]});
    }
    PARTITA_ASSIGN_OR_RETURN(const double step,
                             TransferSeconds(bytes, routes, links));
    seconds += step;
  }
  return seconds;
}

// What a rank does in a ring.
struct RingSteps {
  RingSteps(const CollectiveDef& def, double supplied, size_t ranks)
      : number(def.ring_rounds * (static_cast<double>(ranks) - 1)),
        bytes(def.has_whole_steps ? supplied : supplied / ranks) {}

  double number;
  double bytes;  // that it sends in each
};

// Those of the slowest link; empty if a link of the ring states none.
std::optional<CollectiveFigures> FiguresOf(const CollectiveDef& def,
                                           const std::vector<Hop>& ring) {
  CollectiveFigures slowest = {.bandwidth =
                                   std::numeric_limits<double>::infinity()};
  for (const Hop& hop : ring) {
    const LinkCollectives& stated = hop.link->collectives;
    const auto& figures = def.reduces ? stated.reduce : stated.gather;
    if (!figures.has_value()) return std::nullopt;
    slowest.bandwidth = std::min(slowest.bandwidth, figures->bandwidth);
    slowest.latency = std::max(slowest.latency, figures->latency);
  }
  return slowest;
}

}  // namespace

absl::StatusOr<double> CollectiveSeconds(CollectiveKind kind, double bytes,
                                         const std::vector<std::string>& ranks,
                                         const LinkTable& links) {
  if (ranks.size() < 2) return 0;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Hop> ring,
                           HopsOf(RoutesAlong(ranks, true), links));
  const CollectiveDef& def = DefOf(kind);
  if (const auto figures = FiguresOf(def, ring)) {
    const RingSteps steps(def, bytes, ranks.size());
    return figures->latency + steps.number * steps.bytes / figures->bandwidth;
  }
  return CollectiveTransferSeconds(kind, bytes, ranks, links);
}

absl::StatusOr<double> CollectiveTransferSeconds(
    CollectiveKind kind, double bytes, const std::vector<std::string>& ranks,
    const LinkTable& links) {
  if (ranks.size() < 2) return 0;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Hop> ring,
                           HopsOf(RoutesAlong(ranks, true), links));
  const CollectiveDef& def = DefOf(kind);
  const RingSteps steps(def, bytes, ranks.size());
  const double by_ring = steps.number * StepOver(ring, steps.bytes);
  if (!def.has_tree) return by_ring;
  const absl::StatusOr<double> tree = TreeSeconds(ranks, bytes, links);
  return tree.ok() ? std::min(by_ring, 2 * *tree) : by_ring;
}

absl::StatusOr<double> BroadcastSeconds(double bytes,
                                        const std::vector<std::string>& chain,
                                        const LinkTable& links) {
  const absl::StatusOr<std::vector<Hop>> hops =
      HopsOf(RoutesAlong(chain, false), links);
  const absl::StatusOr<double> tree = TreeSeconds(chain, bytes, links);
  if (!hops.ok()) return tree;
  const double passed_on = ChainSeconds(*hops, bytes);
  return tree.ok() ? std::min(passed_on, *tree) : passed_on;
}

absl::StatusOr<double> TransferSeconds(double bytes,
                                       const std::vector<Route>& routes,
                                       const LinkTable& links) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Hop> hops, HopsOf(routes, links));
  return StepOver(hops, bytes);
}

}  // namespace partita
