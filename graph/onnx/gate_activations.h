// The activations of an LSTM, GRU or RNN node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_GATE_ACTIVATIONS_H_
#define PARTITA_GRAPH_ONNX_GATE_ACTIVATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/onnx/node_import.h"

namespace partita {

// In our terms (graph/ops/recurrent_functions.h); unused ones are 0.
struct GateActivation {
  friend bool operator==(const GateActivation&,
                         const GateActivation&) = default;

  std::string name;
  double alpha = 0;
  double beta = 0;
};

// Those of all directions in sequence; `defaults` are those of one. An RNN may
// name activations for a missing second direction.
absl::StatusOr<std::vector<GateActivation>> ReadGateActivations(
    NodeImport& node, const std::vector<std::string>& defaults,
    int64_t directions);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_GATE_ACTIVATIONS_H_
