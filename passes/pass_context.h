// What passes may ask besides the graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_PASS_CONTEXT_H_
#define PARTITA_PASSES_PASS_CONTEXT_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/op_view.h"

namespace partita {

struct PassContext {
  // The names of the inputs that hold the batch, as in FindBatch.
  std::vector<std::string> batch_inputs;
  // True if a device of the machine has a kernel for the fused node, which is
  // alone in a graph, with its constants and its pin. Null: all have one.
  std::function<bool(const OpView& fused)> has_kernel;
};

}  // namespace partita

#endif  // PARTITA_PASSES_PASS_CONTEXT_H_
