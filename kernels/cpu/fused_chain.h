// A node as one heavy op followed by a chain of elementwise ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_FUSED_CHAIN_H_
#define PARTITA_KERNELS_CPU_FUSED_CHAIN_H_

#include <optional>
#include <vector>

#include "graph/op_view.h"

namespace partita {

// An elementwise op of the chain. Its operand `running` is the value computed
// so far; the other operand, if there is one, is an operand of the node or a
// constant of one element.
struct ChainLink {
  OpView op;
  int running = 0;
  int other_operand = -1;  // of the node
  std::optional<double> scalar;
  bool gates = false;  // the link is v * op(v)
  // The root or another link reads the other operand too.
  bool is_read_again = false;
};

// A node that is not fused is a root without links. A fused one:
//
//   body(x, w, b, r):  %c = conv %x, %w     root, operands {0, 1}
//                      %d = add %c, %b      link, other operand 2
//                      %e = add %r, %d      link, running 1, other operand 3
//                      %f = relu %e         link
//                      return %f
//
// v * sigmoid(v) is one link: `op` is the sigmoid, and `gates` is set.
struct FusedChain {
  OpView root;
  std::vector<int> root_operands;  // operands of the node, by root operand
  std::vector<ChainLink> links;
};

// Nullopt if the node is fused and its body is no such chain.
std::optional<FusedChain> ReadChain(const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_FUSED_CHAIN_H_
