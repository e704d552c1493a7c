// Bytes of shards decide who reaches whom.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/reach.h"

#include "runtime/plan/checker/pieces.h"

namespace partita {
namespace {

bool OperandHasBytes(const OpView& node, int i, int piece) {
  return PieceType(node.operand_type(i), OperandSharding(node.node(), i), piece,
                   NumMembers(node.node().placement))
             .num_bytes() > 0;
}

bool ResultHasBytes(const OpView& node, int i, int piece) {
  return PieceType(node.result_type(i), ResultSharding(node.node(), i), piece,
                   NumMembers(node.node().placement))
             .num_bytes() > 0;
}

// Of any of a bucket's values.
bool Gives(const OpView& node, const CollectiveMember& member) {
  for (int i = 0; member.gives >= 0 && i < node.num_operands(); ++i) {
    if (OperandHasBytes(node, i, member.gives)) return true;
  }
  return false;
}

bool Takes(const OpView& node, const CollectiveMember& member) {
  for (int i = 0; member.takes >= 0 && i < node.num_results(); ++i) {
    if (ResultHasBytes(node, i, member.takes)) return true;
  }
  return false;
}

}  // namespace

Reach::Reach(const OpView& node, const Collective& collective)
    : takes_(collective.members.size()), gives_(collective.members.size(), -1) {
  if (collective.kind == CollectiveKind::kPermute) {
    FindPermuted(node, collective);
  } else if (collective.kind == CollectiveKind::kAllToAll &&
             OperandSharding(node.node(), 0).dim ==
                 ResultSharding(node.node(), 0).dim) {
    FindOverlaps(node, collective);
  } else {
    FindCommon(node, collective);
  }
}

// Who gives reaches all that take: each takes something of every operand.
void Reach::FindCommon(const OpView& node, const Collective& collective) {
  for (size_t m = 0; m < collective.members.size(); ++m) {
    if (Gives(node, collective.members[m])) gives_[m] = 0;
    if (Takes(node, collective.members[m])) takes_[m] = {0, 1};
  }
}

// A piece goes to whoever takes that piece.
void Reach::FindPermuted(const OpView& node, const Collective& collective) {
  num_sources_ = static_cast<int>(collective.members.size());
  for (size_t m = 0; m < collective.members.size(); ++m) {
    const CollectiveMember& member = collective.members[m];
    if (Gives(node, member)) gives_[m] = member.gives;
    if (Takes(node, member)) takes_[m] = {member.takes, member.takes + 1};
  }
}

// Both shardings split one dimension, in other units: neighbours overlap.
// Pieces are in the order of their indices, so what overlaps one is a run of
// them.
void Reach::FindOverlaps(const OpView& node, const Collective& collective) {
  const int members = static_cast<int>(collective.members.size());
  num_sources_ = members;
  const TensorType& type = node.operand_type(0);
  const auto given = [&](int piece) {
    return ExtentOfPiece(type, OperandSharding(node.node(), 0), piece, members);
  };
  int first = 0;
  for (int m = 0; m < members; ++m) {
    if (Gives(node, collective.members[m])) gives_[m] = m;
    if (!Takes(node, collective.members[m])) continue;
    const PieceExtent taken =
        ExtentOfPiece(type, ResultSharding(node.node(), 0), m, members);
    while (given(first).end <= taken.begin) ++first;
    int end = first;
    while (end < members && given(end).begin < taken.end) ++end;
    takes_[m] = {first, end};
  }
}

}  // namespace partita
