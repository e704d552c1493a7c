// Asks the catalog for the shard of every rank.
// SPDX-License-Identifier: Apache-2.0

#include "graph/node_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/fused_body.h"
#include "graph/shard.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// True if several devices compute replicas of a value.
bool MakesCopies(const Placement& placement, const OpView& op) {
  if (placement.devices.size() < 2) return false;
  for (int i = 0; i < op.num_results(); ++i) {
    const Sharding sharding = ShardingOf(placement.results, i);
    if (sharding.kind == Sharding::Kind::kReplicated) return true;
  }
  return false;
}

bool IsSameKernel(const KernelChoice& a, const KernelChoice& b) {
  return a.kernel == b.kernel && a.operands == b.operands &&
         a.results == b.results;
}

// Combines the properties of both choices.
void CombineChoice(const KernelChoice& other, KernelChoice& choice) {
  choice.workspace = std::max(choice.workspace, other.workspace);
  choice.seconds = std::max(choice.seconds, other.seconds);
  if (choice.by_caches.has_value() && other.by_caches.has_value()) {
    CacheSeconds& seconds = *choice.by_caches;
    seconds.warm = std::max(seconds.warm, other.by_caches->warm);
    seconds.cold = std::max(seconds.cold, other.by_caches->cold);
  } else {
    choice.by_caches.reset();
  }
  choice.fallback |= other.fallback;
  choice.any_layout &= other.any_layout;
  std::erase_if(choice.in_place, [&](const InPlacePair& pair) {
    return !absl::c_linear_search(other.in_place, pair);
  });
  for (const Arithmetic& arithmetic : other.arithmetics) {
    if (absl::c_linear_search(choice.arithmetics, arithmetic)) continue;
    choice.arithmetics.push_back(arithmetic);
  }
}

// True if other nodes read a result of the fused node that neither the first
// nor the last node of its body makes.
bool IsReadInside(const OpView& fused, absl::Span<const OpView> body) {
  const Graph& region = fused.region(0);
  for (int i = 0; i < fused.num_results(); ++i) {
    const NodeId maker = region.value(region.outputs()[i]).defining_node;
    if (fused.result(i).num_uses() > 0 && maker.valid() &&
        maker != body.front().id() && maker != body.back().id()) {
      return true;
    }
  }
  return false;
}

// The results of these nodes that the body returns.
ValueIds ReturnedBy(const Graph& body, absl::Span<const NodeId> nodes) {
  ValueIds results;
  for (ValueId output : body.outputs()) {
    if (absl::c_linear_search(nodes, body.value(output).defining_node)) {
      results.push_back(output);
    }
  }
  return results;
}

// True if the choice has the layouts of the node's operands and results.
bool IsBoundIn(const KernelChoice& choice, const OpView& node) {
  if (choice.any_layout) return true;
  for (int i = 0; i < node.num_operands(); ++i) {
    if (choice.operands[i] != node.operand_type(i).layout) return false;
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (choice.results[i] != node.result_type(i).layout) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<NodeRank>> RanksOf(
    const OpView& node, const Placement& placement,
    absl::Span<const DeviceTraits* const> devices) {
  const bool has_own_shards = HasOwnShards(node, placement);
  std::vector<NodeRank> ranks;
  for (const DeviceTraits* device : devices) {
    ranks.push_back({nullptr, node, device});
    if (!has_own_shards) continue;
    PARTITA_ASSIGN_OR_RETURN(
        ranks.back().shard,
        ShardOfNode(node, placement, static_cast<int>(ranks.size()) - 1,
                    kTypicalMicroBatch));
    ranks.back().op = ranks.back().shard->ops().front();
  }
  return ranks;
}

std::vector<KernelChoice> CommonChoices(const Placement& placement,
                                        const std::vector<NodeRank>& ranks,
                                        const KernelCatalog& catalog) {
  const bool makes_copies = MakesCopies(placement, ranks[0].op);
  std::vector<KernelChoice> common =
      catalog.Choices(ranks[0].op, *ranks[0].device);
  for (size_t m = 1; m < ranks.size() && !common.empty(); ++m) {
    const std::vector<KernelChoice> own =
        catalog.Choices(ranks[m].op, *ranks[m].device);
    std::erase_if(common, [&](KernelChoice& choice) {
      const auto same = absl::c_find_if(own, [&](const KernelChoice& other) {
        return IsSameKernel(other, choice);
      });
      if (same == own.end()) return true;
      if (makes_copies && same->arithmetics != choice.arithmetics) return true;
      CombineChoice(*same, choice);
      return false;
    });
  }
  return common;
}

const KernelChoice* FastestChoice(absl::Span<const KernelChoice> choices) {
  if (choices.empty()) return nullptr;
  return &*absl::c_min_element(
      choices, [](const KernelChoice& a, const KernelChoice& b) {
        return a.seconds < b.seconds;
      });
}

const KernelChoice* BoundChoice(const OpView& node,
                                absl::Span<const KernelChoice> choices) {
  const std::optional<KernelBinding>& binding = node.node().kernel;
  if (!binding.has_value()) return FastestChoice(choices);
  const KernelChoice* first = nullptr;
  for (const KernelChoice& choice : choices) {
    if (choice.kernel != binding->kernel) continue;
    if (IsBoundIn(choice, node)) return &choice;
    if (first == nullptr) first = &choice;
  }
  return first != nullptr ? first : FastestChoice(choices);
}

bool TailIsOneLoop(const OpView& fused) {
  const std::vector<OpView> body = fused.region(0).ops();
  return body.size() > 2 && !body[0].op().traits.elementwise &&
         absl::c_all_of(
             absl::MakeConstSpan(body).subspan(1),
             [](const OpView& node) { return node.op().traits.elementwise; }) &&
         !IsReadInside(fused, body);
}

absl::StatusOr<UnfusedBody> Unfuse(const OpView& fused, bool tail_is_one_loop) {
  const Graph& body = fused.region(0);
  UnfusedBody unfused{.nodes = body.ops()};
  if (!tail_is_one_loop) return unfused;
  std::vector<NodeId> tail;
  for (const OpView& node : unfused.nodes) tail.push_back(node.id());
  tail.erase(tail.begin());
  PARTITA_ASSIGN_OR_RETURN(unfused.tail,
                           FusedAlone(body, tail, ReturnedBy(body, tail)));
  unfused.nodes = {unfused.nodes[0], unfused.tail->ops().back()};
  return unfused;
}

bool IsUnfused(const OpView& node, absl::Span<const KernelChoice> choices) {
  return node.is(kFused) && (choices.empty() || choices.front().fallback);
}

bool RunsFused(const OpView& fused, const KernelCatalog& catalog,
               absl::Span<const DeviceClass> classes) {
  const Placement& pin = fused.node().placement;
  const auto may_run = [&](const DeviceTraits* device) {
    return !pin.placed() || absl::c_linear_search(pin.devices, device->name);
  };
  return absl::c_any_of(classes, [&](const DeviceClass& devices) {
    return absl::c_any_of(devices, may_run) &&
           !IsUnfused(fused, catalog.Choices(fused, *devices.front()));
  });
}

}  // namespace partita
