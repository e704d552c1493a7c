// Pins, source passes and micro-batches.
// SPDX-License-Identifier: Apache-2.0

#include "partita/source_module.h"

#include <memory>
#include <utility>

#include "graph/status_macros.h"
#include "graph/verifier.h"
#include "partita/compile_request.h"
#include "placement/partition/verify_micro_batches.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/pin_divisions.h"

namespace partita {

SourceModule::SourceModule(Module module, const CompileTarget& target)
    : target_(target), module_(std::move(module)) {}

absl::Status SourceModule::Optimise(std::vector<PassRecord>& records) {
  const CompileOptions& options = target_.options();
  PARTITA_RETURN_IF_ERROR(VerifyModule(module_));
  PARTITA_RETURN_IF_ERROR(CheckSource(module_));
  PARTITA_RETURN_IF_ERROR(CheckBatchInputs(module_, options.batch_inputs));
  PipelineOptions passes = options.passes;
  passes.context = {.batch_inputs = options.batch_inputs,
                    .has_kernel = [this](const OpView& fused) {
                      return target_.HasKernel(fused);
                    }};
  PARTITA_ASSIGN_OR_RETURN(pins_,
                           WritePins(module_, target_.machine(), options.pins));
  for (const auto& function : module_.functions()) {
    WriteConstraints(*function, options.planner.constraints);
    PARTITA_RETURN_IF_ERROR(
        RunPipeline(SourcePasses(), passes, *function, &records));
  }
  return CheckPinDivisions(module_, pins_);
}

std::vector<std::string> SourceModule::IdlePins() const {
  return PinsWithoutNodes(module_, pins_);
}

absl::Status SourceModule::DivideFunction(Graph& function,
                                          const PipelineOptions& passes) {
  const CompileOptions& options = target_.options();
  const int count = options.micro_batches.value_or(1);
  PARTITA_RETURN_IF_ERROR(RunPipeline(MicroBatchPasses(), passes, function));
  const std::unique_ptr<Graph> whole = function.Clone(&function.literals());
  PARTITA_ASSIGN_OR_RETURN(
      MicroBatches parts,
      partita::DivideIntoMicroBatches(function, count, options.batch_inputs));
  parts.schedule = options.schedule.value_or(parts.schedule);
  micro_batches_.push_back(std::move(parts));
  PARTITA_RETURN_IF_ERROR(Verify(function));
  return VerifyMicroBatches(*whole, function, count);
}

absl::Status SourceModule::DivideIntoMicroBatches() {
  const CompileOptions& options = target_.options();
  PARTITA_RETURN_IF_ERROR(CheckMicroBatches(
      module_, options.micro_batches.value_or(1), options.batch_inputs));
  const PipelineOptions passes{
      .context = {.batch_inputs = options.batch_inputs}};
  for (const auto& function : module_.functions()) {
    PARTITA_RETURN_IF_ERROR(DivideFunction(*function, passes));
  }
  // A micro-batch has fewer shards than the batch.
  return CheckPinDivisions(module_, pins_);
}

void SourceModule::Renumber() { module_ = module_.Clone(); }

void SourceModule::WritePlacements(int function,
                                   absl::Span<const Placement> placements) {
  Graph& graph = *module_.functions()[function];
  for (NodeId node : graph.order()) {
    Placement& written = graph.node(node).placement;
    std::vector<int> groups = std::move(written.groups);
    written = placements[node.index];
    written.groups = std::move(groups);
  }
}

const MicroBatches& SourceModule::MicroBatchesOf(int function) const {
  return micro_batches_.empty() ? whole_batch_ : micro_batches_[function];
}

}  // namespace partita
