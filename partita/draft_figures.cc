// Kernels, live ranges, and a table of what was predicted.
// SPDX-License-Identifier: Apache-2.0

#include "partita/draft_figures.h"

#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/verifier.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/gpu/ptx_catalog.h"
#include "partita/compile_request.h"
#include "partita/predict_step.h"
#include "placement/cost/cache_reuse.h"
#include "placement/lower/refusal.h"

namespace partita {
namespace {

// What decides between launch orders.
std::optional<LeastMemory> LeastMemoryOf(const ObjectiveChoice& objective) {
  if (objective.goal != Goal::kMemory) return std::nullopt;
  return LeastMemory{objective.most_step_seconds};
}

// By what the step displaces from the caches.
void PriceInStep(const Graph& graph, const Machine& machine,
                 std::vector<PricedNode>& nodes) {
  const CacheReuse reuse(graph, machine);
  for (PricedNode& node : nodes) {
    const std::string& first = graph.node(node.node).placement.devices.front();
    node.seconds = SecondsInStep(
        node.seconds, node.by_caches,
        reuse.DisplacedShare(node.node, machine.FindDevice(first)->traits));
  }
}

}  // namespace

DraftFigures::DraftFigures(const SourceModule& source,
                           const CompileTarget& target, StageClock& stages,
                           bool opens_codegen)
    : target_(target),
      stages_(stages),
      lowering_(target.machine(),
                LowerOptions{.depth = target.options().depth,
                             .micro_batches = source.micro_batches(),
                             .least_memory =
                                 LeastMemoryOf(ObjectiveOf(target.options()))}),
      opens_codegen_(opens_codegen) {}

absl::Status DraftFigures::Count(PlacedFunction& placed) {
  if (placed.counted.has_value()) return absl::OkStatus();
  Graph& graph = *placed.graph;
  PARTITA_RETURN_IF_ERROR(stages_.Run("kernels", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(
        placed.chosen,
        ChooseKernels(graph, target_.catalog(), target_.traits(), packed_));
    PriceInStep(graph, target_.machine(), placed.chosen);
    return Verify(graph);
  }));
  if (opens_codegen_ && !opening_codegen_.valid() &&
      absl::c_any_of(graph.ops(), [](const OpView& op) {
        return HasGeneratedKernel(op) || HasPtxKernel(op);
      })) {
    opening_codegen_ = OpenCodegenSoon();
  }
  return stages_.Run("lower", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(
        placed.counted,
        lowering_.CountLiveBytes(
            graph, placed.number,
            StepPredictorOf(graph, placed.chosen, target_.machine(),
                            ObjectiveOf(target_.options()).goal)));
    return absl::OkStatus();
  });
}

absl::StatusOr<PredictedDraft> DraftFigures::Predict(
    absl::Span<PlacedFunction* const> functions) {
  Fingerprints fingerprints;
  for (const PlacedFunction* function : functions) {
    fingerprints.push_back(function->fingerprint);
  }
  const auto before = predicted_.find(fingerprints);
  if (before != predicted_.end()) return before->second;
  const auto predict = [&]() -> absl::StatusOr<PredictedDraft> {
    std::vector<CountedFunction*> counted;
    for (PlacedFunction* function : functions) {
      PARTITA_RETURN_IF_ERROR(Count(*function));
      counted.push_back(&*function->counted);
    }
    PARTITA_ASSIGN_OR_RETURN(CountedPlan figures, lowering_.Figures(counted));
    return PredictedDraft{
        std::move(figures.needed_bytes),
        figures.step_seconds.value_or(std::numeric_limits<double>::infinity())};
  };
  return predicted_.emplace(std::move(fingerprints), predict()).first->second;
}

MissingBytes DraftFigures::MissingIn(absl::Span<const int64_t> needed) const {
  MissingBytes most;
  for (size_t d = 0; d < needed.size(); ++d) {
    const int64_t bytes = needed[d] - target_.usable()[d];
    if (bytes > most.bytes) most = {static_cast<int>(d), bytes};
  }
  return most;
}

MissingBytes DraftFigures::MissingIn(const absl::Status& refusal) const {
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  if (!shortage.has_value()) return {};
  const std::vector<DeviceTraits>& devices = target_.traits();
  const auto device = absl::c_find_if(devices, [&](const DeviceTraits& traits) {
    return traits.name == shortage->device;
  });
  return {static_cast<int>(device - devices.begin()), shortage->missing()};
}

}  // namespace partita
