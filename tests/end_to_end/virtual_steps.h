// Runs plans on virtual devices, together with their reference.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_END_TO_END_VIRTUAL_STEPS_H_
#define PARTITA_TESTS_END_TO_END_VIRTUAL_STEPS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "partita/compile.h"
#include "partita/session.h"

namespace partita {

struct VirtualRun {
  std::vector<HostTensor> outputs;
  std::vector<HostTensor> reference;  // the placed graph, node by node
};

// A session of virtual devices whose inputs are set.
absl::StatusOr<std::unique_ptr<Session>> VirtualSession(
    std::shared_ptr<const Plan> plan, absl::Span<const HostTensor> inputs);

// Runs one more step and returns its outputs.
absl::StatusOr<std::vector<HostTensor>> StepOutputs(
    Session& session, const RunOptions& options = {});

// Runs one step and its reference.
absl::StatusOr<VirtualRun> RunVirtually(Plan plan,
                                        absl::Span<const HostTensor> inputs);

// OK if both hold the same bits.
absl::Status SameBits(absl::Span<const HostTensor> found,
                      absl::Span<const HostTensor> expected);
// OK if every element differs by at most rtol times its magnitude plus atol.
absl::Status Close(absl::Span<const HostTensor> found,
                   absl::Span<const HostTensor> expected, double rtol,
                   double atol);

}  // namespace partita

#endif  // PARTITA_TESTS_END_TO_END_VIRTUAL_STEPS_H_
