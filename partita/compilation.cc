// The stages: passes, planner, partition, kernels, lowering, proof.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compilation.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/batch.h"
#include "graph/node_kernels.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "kernels/catalog/host_kernels.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "partita/compile_request.h"
#include "partita/plan_code.h"
#include "placement/lower/lower.h"
#include "placement/partition/fill_buckets.h"
#include "placement/partition/partition.h"
#include "placement/partition/verify_micro_batches.h"
#include "placement/partition/verify_split.h"
#include "placement/planner/pin_divisions.h"
#include "placement/planner/pins.h"
#include "placement/planner/refusal.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_hash.h"

namespace partita {
namespace {

constexpr int kMaxReplans = 4;

EntryNotes ReasonNotes(const Graph& graph, const PlacementTable& table) {
  EntryNotes notes;
  for (NodeId node : graph.order()) {
    const PlacedNode& placed = table.nodes[node.index];
    if (!placed.placement.placed()) continue;
    notes.nodes.push_back({node, ReasonText(graph, placed), 0});
  }
  return notes;
}

std::vector<Placement> PlacementsOf(const PlacementTable& table) {
  std::vector<Placement> placements;
  for (const PlacedNode& node : table.nodes) {
    placements.push_back(node.placement);
  }
  return placements;
}

bool HasGeneratedKernels(const Module& module) {
  return absl::c_any_of(module.functions(), [](const auto& function) {
    return absl::c_any_of(function->ops(), HasGeneratedKernel);
  });
}

}  // namespace

Compilation::Compilation(Module module, const Machine& machine,
                         const CompileOptions& options)
    : source_(std::move(module)),
      machine_(machine),
      options_(options),
      catalog_(options.ieee ? BuiltInIeeeCatalog() : BuiltInCatalog()) {
  for (const MachineDevice& device : machine.devices) {
    traits_.push_back(device.traits);
    usable_.push_back(device.usable());
  }
}

absl::Status Compilation::Stage(absl::string_view name,
                                const std::function<absl::Status()>& work) {
  if (options_.progress) options_.progress(name);
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = work();
  // A catalog's error explains everything that follows from it.
  for (const DeviceTraits& device : traits_) {
    PARTITA_RETURN_IF_ERROR(CheckBuiltInCatalog(device));
  }
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  for (StageTime& stage : report_.stages) {
    if (stage.stage != name) continue;
    stage.seconds += taken.count();
    return status;
  }
  report_.stages.push_back({std::string(name), taken.count()});
  return status;
}

absl::Status Compilation::Optimise() {
  return Stage("optimise", [&]() -> absl::Status {
    PARTITA_RETURN_IF_ERROR(VerifyModule(source_));
    PARTITA_RETURN_IF_ERROR(CheckSource(source_));
    PARTITA_RETURN_IF_ERROR(CheckBatchInputs(source_, options_.batch_inputs));
    PipelineOptions passes = options_.passes;
    passes.context = {.batch_inputs = options_.batch_inputs,
                      .has_kernel = [this](const OpView& fused) {
                        return RunsFused(fused, catalog_, traits_);
                      }};
    PARTITA_ASSIGN_OR_RETURN(pins_,
                             WritePins(source_, machine_, options_.pins));
    for (const auto& function : source_.functions()) {
      PARTITA_RETURN_IF_ERROR(
          RunPipeline(SourcePasses(), passes, *function, &report_.passes));
    }
    report_.idle_pins = PinsWithoutNodes(source_, pins_);
    return CheckPinDivisions(source_, pins_);
  });
}

absl::Status Compilation::DivideIntoMicroBatches() {
  if (options_.micro_batches == 1) return absl::OkStatus();
  return Stage("micro-batches", [&]() -> absl::Status {
    PARTITA_RETURN_IF_ERROR(CheckMicroBatches(source_, options_.micro_batches,
                                              options_.batch_inputs));
    const PipelineOptions passes{
        .context = {.batch_inputs = options_.batch_inputs}};
    for (const auto& function : source_.functions()) {
      PARTITA_RETURN_IF_ERROR(
          RunPipeline(MicroBatchPasses(), passes, *function));
      const std::unique_ptr<Graph> whole =
          function->Clone(&function->literals());
      PARTITA_ASSIGN_OR_RETURN(
          MicroBatches parts,
          partita::DivideIntoMicroBatches(*function, options_.micro_batches,
                                          options_.batch_inputs));
      parts.schedule = options_.schedule.value_or(parts.schedule);
      micro_batches_.push_back(std::move(parts));
      PARTITA_RETURN_IF_ERROR(Verify(*function));
      PARTITA_RETURN_IF_ERROR(
          VerifyMicroBatches(*whole, *function, options_.micro_batches));
    }
    // A micro-batch has fewer shards than the batch.
    return CheckPinDivisions(source_, pins_);
  });
}

absl::StatusOr<Compilation::PlacedFunction> Compilation::PlaceFunction(
    const Planner& planner, const std::vector<int64_t>& limits,
    const MicroBatches& parts, VariableHomes& homes, Graph& function) {
  PlannerOptions options = options_.planner;
  options.micro_batches = parts;
  options.batch = parts.count > 1
                      ? BatchOfInputs(function, parts.sharded_inputs)
                      : FindBatch(function, options_.batch_inputs);
  options.follows_variables = WriteHomes(homes, function);
  PARTITA_ASSIGN_OR_RETURN(
      const PlacementTable table,
      planner.Place(function, machine_, catalog_,
                    {.goal = GoalOf(options_), .memory_limits = limits},
                    options));
  PlacedFunction placed{ReasonNotes(function, table), table.shortage};
  const std::unique_ptr<Graph> before = function.Clone(&function.literals());
  PARTITA_RETURN_IF_ERROR(
      Partition(function, PlacementsOf(table), machine_,
                {.output_device = options_.output_device, .homes = homes}));
  DecideHomes(function, homes);
  PARTITA_RETURN_IF_ERROR(
      FillBuckets(function, options_.bucket_bytes.value_or(kUsualBucketBytes),
                  VaryingValues(function, parts.sharded_inputs)));
  PARTITA_RETURN_IF_ERROR(Verify(function));
  PARTITA_RETURN_IF_ERROR(VerifySplit(*before, function));
  return placed;
}

absl::StatusOr<Module> Compilation::Place(const Planner& planner,
                                          const std::vector<int64_t>& limits,
                                          std::vector<EntryNotes>& notes,
                                          absl::Status& expected) {
  Module module = source_.Clone();
  notes.assign(module.functions().size(), {});
  VariableHomes homes = HomesToDecide(module);
  PARTITA_RETURN_IF_ERROR(Stage("place", [&]() -> absl::Status {
    for (int i : DecidingOrder(module)) {
      const MicroBatches parts =
          micro_batches_.empty() ? MicroBatches() : micro_batches_[i];
      PARTITA_ASSIGN_OR_RETURN(
          PlacedFunction placed,
          PlaceFunction(planner, limits, parts, homes, *module.functions()[i]));
      notes[i] = std::move(placed.notes);
      expected.Update(placed.shortage);
    }
    return absl::OkStatus();
  }));
  return module;
}

absl::Status Compilation::BindKernels(
    Module& module, std::vector<std::vector<PricedNode>>& chosen) {
  chosen.clear();
  return Stage("kernels", [&]() -> absl::Status {
    for (const auto& function : module.functions()) {
      PARTITA_ASSIGN_OR_RETURN(
          std::vector<PricedNode> kernels,
          ChooseKernels(*function, catalog_, traits_, packed_));
      PARTITA_RETURN_IF_ERROR(Verify(*function));
      chosen.push_back(std::move(kernels));
    }
    return absl::OkStatus();
  });
}

bool Compilation::LowerLimit(const absl::Status& status,
                             std::vector<int64_t>& limits) const {
  const std::optional<MemoryShortage> shortage = ShortageOf(status);
  if (!shortage.has_value()) return false;
  for (size_t i = 0; i < traits_.size(); ++i) {
    if (traits_[i].name != shortage->device) continue;
    limits[i] -= shortage->missing();
    return limits[i] > 0;
  }
  return false;
}

absl::StatusOr<Plan> Compilation::LowerModule(Module module) {
  absl::StatusOr<Plan> plan = absl::UnknownError("");
  PARTITA_RETURN_IF_ERROR(Stage("lower", [&] {
    plan = Lower(std::move(module), machine_,
                 {.depth = options_.depth, .micro_batches = micro_batches_});
    return absl::OkStatus();
  }));
  return plan;
}

absl::StatusOr<Attempt> Compilation::TryWithin(
    const std::vector<int64_t>& limits, const Planner& planner, bool with_texts,
    absl::Status& expected) {
  Attempt attempt;
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           Place(planner, limits, attempt.notes, expected));
  if (with_texts) attempt.placed_text = PrintModule(module);
  const Fingerprint fingerprint = FingerprintOf(module);
  for (const auto& [before, strategy] : placed_) {
    if (before != fingerprint) continue;
    attempt.repeats = strategy;
    return attempt;
  }
  for (const auto& [before, fault] : refused_) {
    if (before == fingerprint) return fault;
  }
  PARTITA_RETURN_IF_ERROR(BindKernels(module, attempt.chosen));
  if (HasGeneratedKernels(module) && !opening_codegen_.valid()) {
    opening_codegen_ = OpenCodegenSoon();
  }
  if (with_texts) attempt.kernels_text = PrintModule(module);
  absl::StatusOr<Plan> plan = LowerModule(std::move(module));
  if (!plan.ok()) {
    refused_.emplace_back(fingerprint, plan.status());
    return plan.status();
  }
  attempt.plan = *std::move(plan);
  placed_.emplace_back(fingerprint, planner.name);
  return attempt;
}

absl::StatusOr<Attempt> Compilation::Try(const Planner& planner,
                                         bool with_texts) {
  std::vector<int64_t> limits = usable_;
  absl::Status first;  // lowering's refusal
  for (int round = 0;; ++round) {
    absl::Status expected;
    absl::StatusOr<Attempt> attempt =
        TryWithin(limits, planner, with_texts, expected);
    if (attempt.ok()) return attempt;
    if (!ShortageOf(attempt.status()).has_value()) return attempt.status();
    if (!expected.ok()) return first.ok() ? expected : first;
    if (round == kMaxReplans || !LowerLimit(attempt.status(), limits)) {
      return attempt.status();
    }
    if (first.ok()) first = attempt.status();
  }
}

absl::StatusOr<Prediction> Compilation::Predict(Attempt& attempt) {
  Prediction prediction;
  PARTITA_RETURN_IF_ERROR(Stage("predict", [&]() -> absl::Status {
    // Has the node ids of the plan's graphs, which start as clones too.
    const Module source = source_.Clone();
    PARTITA_ASSIGN_OR_RETURN(
        prediction, PredictPlan(attempt.plan, source, machine_, catalog_,
                                attempt.chosen, std::move(attempt.notes)));
    return absl::OkStatus();
  }));
  return prediction;
}

absl::Status Compilation::BuildCode(Plan& plan) {
  return Stage("native code", [&] { return BuildPlanCode(traits_, plan); });
}

absl::Status Compilation::Prove(Plan& plan) {
  return Stage("prove", [&]() -> absl::Status {
    absl::StatusOr<Certificate> certificate = CheckPlan(plan);
    if (!certificate.ok()) {
      return absl::InternalError(
          absl::StrCat("bug: the checker refuses the plan that this compiler "
                       "made: ",
                       certificate.status().message()));
    }
    certificate->proved.push_back(
        "placed graph = optimised graph, from the dimension rules");
    certificate->plan_hash = PlanHash(plan);
    plan.certificate = *std::move(certificate);
    return absl::OkStatus();
  });
}

}  // namespace partita
