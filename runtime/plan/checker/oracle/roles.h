// Who hands what to whom when the members of a node exchange bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_ROLES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_ROLES_H_

#include <vector>

#include "graph/op_view.h"

namespace partita {

// One member's side: the piece of the operand that it hands over, and the piece
// of the result that it is handed; -1: none.
struct Role {
  int hands_over = -1;
  int is_handed = -1;
};

// By member. Those that only hand over stand behind the devices of the node.
std::vector<Role> RolesIn(const OpView& node);

// True if every piece goes as it is from one device to another, so that a
// member sees that piece alone.
bool HandsPiecesOn(const OpView& node);

// True if some byte of piece `given` of an operand lies in piece `handed` of
// the result that is made of it.
bool Reaches(const OpView& node, int given, int handed);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_ROLES_H_
