// Kernels, live ranges, and a table of what was counted.
// SPDX-License-Identifier: Apache-2.0

#include "partita/draft_memory.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/verifier.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "placement/lower/refusal.h"

namespace partita {

DraftMemory::DraftMemory(const SourceModule& source,
                         const CompileTarget& target, StageClock& stages)
    : target_(target),
      stages_(stages),
      lowering_(target.machine(),
                LowerOptions{.depth = target.options().depth,
                             .micro_batches = source.micro_batches()}) {}

absl::Status DraftMemory::Count(PlacedFunction& placed) {
  if (placed.counted.has_value()) return absl::OkStatus();
  Graph& graph = *placed.graph;
  PARTITA_RETURN_IF_ERROR(stages_.Run("kernels", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(
        placed.chosen,
        ChooseKernels(graph, target_.catalog(), target_.traits(), packed_));
    return Verify(graph);
  }));
  if (!opening_codegen_.valid() &&
      absl::c_any_of(graph.ops(), HasGeneratedKernel)) {
    opening_codegen_ = OpenCodegenSoon();
  }
  return stages_.Run("lower", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(placed.counted,
                             lowering_.CountLiveBytes(graph, placed.number));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<int64_t>> DraftMemory::NeededBytes(
    absl::Span<PlacedFunction* const> functions) {
  Fingerprints fingerprints;
  for (const PlacedFunction* function : functions) {
    fingerprints.push_back(function->fingerprint);
  }
  if (const auto before = needed_.find(fingerprints); before != needed_.end()) {
    return before->second;
  }
  const auto count = [&]() -> absl::StatusOr<std::vector<int64_t>> {
    std::vector<CountedFunction*> counted;
    for (PlacedFunction* function : functions) {
      PARTITA_RETURN_IF_ERROR(Count(*function));
      counted.push_back(&*function->counted);
    }
    return lowering_.NeededBytes(counted);
  };
  return needed_.emplace(std::move(fingerprints), count()).first->second;
}

MissingBytes DraftMemory::MissingIn(absl::Span<const int64_t> needed) const {
  MissingBytes most;
  for (size_t d = 0; d < needed.size(); ++d) {
    const int64_t bytes = needed[d] - target_.usable()[d];
    if (bytes > most.bytes) most = {static_cast<int>(d), bytes};
  }
  return most;
}

MissingBytes DraftMemory::MissingIn(const absl::Status& refusal) const {
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  if (!shortage.has_value()) return {};
  const std::vector<DeviceTraits>& devices = target_.traits();
  const auto device = absl::c_find_if(devices, [&](const DeviceTraits& traits) {
    return traits.name == shortage->device;
  });
  return {static_cast<int>(device - devices.begin()), shortage->missing()};
}

}  // namespace partita
