// Finds from the bytes of shards which ranks reach which.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/reach.h"

#include "runtime/plan/checker/collective_rule.h"
#include "runtime/plan/checker/shards.h"

namespace partita {
namespace {

bool OperandHasBytes(const OpView& node, int i, int shard) {
  return TypeOfShard(node.operand_type(i), OperandSharding(node.node(), i),
                     shard, NumRanks(node.node().placement))
             .num_bytes() > 0;
}

bool ResultHasBytes(const OpView& node, int i, int shard) {
  return TypeOfShard(node.result_type(i), ResultSharding(node.node(), i), shard,
                     NumRanks(node.node().placement))
             .num_bytes() > 0;
}

// True if the rank gives a byte of any value of the bucket.
bool Gives(const OpView& node, const Participant& participant) {
  for (int i = 0; participant.gives >= 0 && i < node.num_operands(); ++i) {
    if (OperandHasBytes(node, i, participant.gives)) return true;
  }
  return false;
}

bool Takes(const OpView& node, const Participant& participant) {
  for (int i = 0; participant.takes >= 0 && i < node.num_results(); ++i) {
    if (ResultHasBytes(node, i, participant.takes)) return true;
  }
  return false;
}

}  // namespace

Reach::Reach(const OpView& node, const Collective& collective)
    : takes_(collective.ranks.size()), gives_(collective.ranks.size(), -1) {
  const CollectiveRule rule =
      collective.kind.has_value() ? RuleOf(*collective.kind) : CollectiveRule();
  if (rule.reached == CollectiveRule::Reached::kSameShard) {
    FindPermuted(node, collective);
  } else if (rule.reached == CollectiveRule::Reached::kOverlapping &&
             OperandSharding(node.node(), 0).dim ==
                 ResultSharding(node.node(), 0).dim) {
    FindOverlaps(node, collective);
  } else {
    FindCommon(node, collective);
  }
}

// Every rank that gives reaches every rank that takes, because each takes some
// bytes of every operand.
void Reach::FindCommon(const OpView& node, const Collective& collective) {
  for (size_t rank = 0; rank < collective.ranks.size(); ++rank) {
    if (Gives(node, collective.ranks[rank])) gives_[rank] = 0;
    if (Takes(node, collective.ranks[rank])) takes_[rank] = {0, 1};
  }
}

// A shard goes to the rank that takes this shard.
void Reach::FindPermuted(const OpView& node, const Collective& collective) {
  num_sources_ = static_cast<int>(collective.ranks.size());
  for (size_t rank = 0; rank < collective.ranks.size(); ++rank) {
    const Participant& participant = collective.ranks[rank];
    if (Gives(node, participant)) gives_[rank] = participant.gives;
    if (Takes(node, participant)) {
      takes_[rank] = {participant.takes, participant.takes + 1};
    }
  }
}

// Both shardings split one dimension in different units. Shards are in the
// order of their indices, so the shards that overlap one shard are consecutive.
void Reach::FindOverlaps(const OpView& node, const Collective& collective) {
  const int ranks = static_cast<int>(collective.ranks.size());
  num_sources_ = ranks;
  const TensorType& type = node.operand_type(0);
  const auto given = [&](int shard) {
    return ExtentOfShard(type, OperandSharding(node.node(), 0), shard, ranks);
  };
  int first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (Gives(node, collective.ranks[rank])) gives_[rank] = rank;
    if (!Takes(node, collective.ranks[rank])) continue;
    const ShardExtent taken =
        ExtentOfShard(type, ResultSharding(node.node(), 0), rank, ranks);
    while (given(first).end <= taken.begin) ++first;
    int end = first;
    while (end < ranks && given(end).begin < taken.end) ++end;
    takes_[rank] = {first, end};
  }
}

}  // namespace partita
