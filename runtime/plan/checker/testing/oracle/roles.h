// Which rank sends which shard to which when a node moves bytes between ranks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_ROLES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_ROLES_H_

#include <vector>

#include "graph/op_view.h"

namespace partita {

// One rank's side: the shard of the operand that it sends, and the shard of the
// result that it receives; -1: none.
struct Role {
  int sends = -1;
  int receives = -1;
};

// By rank. Ranks that only send come after the devices of the node.
std::vector<Role> RolesIn(const OpView& node);

// True if every shard moves unchanged from one device to another, so that a
// rank reads a single shard.
bool ForwardsShards(const OpView& node);

// True if some byte of shard `given` of an operand is in shard `handed` of the
// result.
bool Reaches(const OpView& node, int given, int handed);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_ROLES_H_
