// Why a node is where it is, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_EXPLAIN_TEXT_H_
#define PARTITA_TOOLS_PARTITA_EXPLAIN_TEXT_H_

#include <string>

#include "partita/explain_node.h"

namespace partita {

// The node and its reason, then each option: what the plan would come to, or
// why there is no such plan.
std::string ExplanationText(const NodeExplanation& explanation);
std::string ExplanationJson(const NodeExplanation& explanation);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_EXPLAIN_TEXT_H_
