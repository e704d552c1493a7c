// Copies to several devices that one exchange carries out.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_EXCHANGE_H_
#define PARTITA_PLACEMENT_LOWER_EXCHANGE_H_

#include <vector>

#include "graph/op_view.h"
#include "placement/lower/plan_draft.h"
#include "placement/machine/link_table.h"

namespace partita {

// What one device does in an exchange: pieces of the draft, or -1.
struct ExchangePart {
  int device = 0;
  int gives = -1;  // of the operand
  int takes = -1;  // of the result
};

// The parts of the exchange that brings what a copy node's micro-batch has to
// other devices, by member; empty where copies shall. It is
//   * a broadcast of a value that lies on one device to two others or more, if
//     copies over the machine's links, all at once, take as long or longer;
//   * a permute of a split value of which every piece goes to another device:
//     over the same links as copies, and all at once;
//   * an all_gather or an all_to_all of a split value that the same devices are
//     to have whole or divided along another dimension, if a ring of them takes
//     no longer than copies from each to each; always if that is what a
//     variable becomes (`is_update`), whose parts are then made in place.
// First the node's devices, then those that only give. A piece that is there
// already, a broadcast root's, is nobody's to take.
std::vector<ExchangePart> FindExchange(const PlanDraft& draft,
                                       const OpView& copy, int micro_batch,
                                       bool is_update, const LinkTable& links);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_EXCHANGE_H_
