// The samples of every op, for tests that walk the table.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_TESTING_OP_SAMPLES_H_
#define PARTITA_GRAPH_OPS_TESTING_OP_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "graph/op_def.h"
#include "graph/ops/op_sample.h"

namespace partita {

// At least one of every op in the table that users may write, except constant
// and variable (need bytes) and fused (needs a body): those that the op
// declares (OpDef::samples), and for an elementwise op one of each type that it
// accepts. In the order of the table.
std::vector<OpSample> OpSamples();

// The random tensor of an operand for `seed`.
HostTensor RandomTensor(const SampleOperand& operand, uint32_t seed);

// A graph of this node, with an input for each operand; the op's error if it
// refuses.
absl::StatusOr<NodeId> AddSample(const OpSample& sample, Graph& graph);

// "conv(f32[1, 4, 9, 9], f32[6, 4, 3, 3])".
std::string ToString(const OpSample& sample);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_TESTING_OP_SAMPLES_H_
