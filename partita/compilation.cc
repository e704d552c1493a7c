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
#include "binding/verify_binding.h"
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
#include "placement/lower/refusal.h"
#include "placement/partition/fill_buckets.h"
#include "placement/partition/partition.h"
#include "placement/partition/verify_micro_batches.h"
#include "placement/partition/verify_split.h"
#include "placement/planner/pin_divisions.h"
#include "placement/planner/pins.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/graph_claims.h"
#include "runtime/plan/plan_hash.h"

namespace partita {
namespace {

// Rounds in which a strategy places a module that was short of memory. It gives
// up earlier if that no longer makes the shortage smaller.
constexpr int kMostRounds = 8;
constexpr int kMostVainRounds = 2;

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
  classes_ = ClassesOf(traits_);
}

absl::Status Compilation::Stage(absl::string_view name,
                                const std::function<absl::Status()>& work) {
  if (options_.progress) options_.progress(name);
  std::vector<StageTime>& stages = report_.stages;
  const auto has_name = [&](const StageTime& stage) {
    return stage.stage == name;
  };
  if (!absl::c_any_of(stages, has_name)) {
    stages.push_back({std::string(name), 0});
  }
  const double outer = std::exchange(inner_seconds_, 0);
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = work();
  // A catalog's error explains everything that follows from it.
  for (const DeviceTraits& device : traits_) {
    PARTITA_RETURN_IF_ERROR(CheckBuiltInCatalog(device));
  }
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  absl::c_find_if(stages, has_name)->seconds += taken.count() - inner_seconds_;
  inner_seconds_ = outer + taken.count();
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
                        return RunsFused(fused, catalog_, classes_);
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

const MicroBatches& Compilation::MicroBatchesOf(int function) const {
  return micro_batches_.empty() ? whole_batch_ : micro_batches_[function];
}

absl::StatusOr<Compilation::PlacedFunction> Compilation::PartitionAs(
    const Graph& function, int number, std::vector<Placement> placements,
    const VariableHomes& homes) {
  PlacedFunction placed;
  // A copy of a copy keeps ids, so that notes on nodes of `function` hold.
  placed.graph = function.Clone(&function.literals());
  Graph& graph = *placed.graph;
  PARTITA_RETURN_IF_ERROR(
      Partition(graph, placements, machine_,
                {.output_device = options_.output_device, .homes = homes}));
  PARTITA_RETURN_IF_ERROR(
      FillBuckets(graph, options_.bucket_bytes.value_or(kUsualBucketBytes),
                  VaryingValues(graph, MicroBatchesOf(number).sharded_inputs)));
  PARTITA_RETURN_IF_ERROR(Verify(graph));
  PARTITA_RETURN_IF_ERROR(VerifySplit(function, graph));
  placed.placements = std::move(placements);
  placed.fingerprint = FingerprintOf(graph);
  return placed;
}

absl::StatusOr<Compilation::PlacedFunction> Compilation::PlaceFunction(
    const PlacingOptions& placing, int number, Graph& function,
    absl::Span<PlacedFunction* const> before, VariableHomes& homes) {
  const MicroBatches& parts = MicroBatchesOf(number);
  PlannerOptions options = options_.planner;
  options.micro_batches = parts;
  options.batch = parts.count > 1
                      ? BatchOfInputs(function, parts.sharded_inputs)
                      : FindBatch(function, options_.batch_inputs);
  options.follows_variables = WriteHomes(homes, function);
  // The draft that the strategy probably takes: the last that fits, else the
  // one that misses least. Of the others only the figures are kept.
  std::optional<PlacedFunction> placed;
  int64_t missing = 0;
  const auto count = [&](absl::Span<const Placement> placements)
      -> absl::StatusOr<std::vector<int64_t>> {
    PARTITA_ASSIGN_OR_RETURN(
        PlacedFunction draft,
        PartitionAs(function, number, {placements.begin(), placements.end()},
                    homes));
    std::vector<PlacedFunction*> functions(before.begin(), before.end());
    functions.push_back(&draft);
    PARTITA_ASSIGN_OR_RETURN(std::vector<int64_t> needed,
                             NeededBytes(functions));
    const int64_t missing_here = MissingIn(needed).bytes;
    if (!placed.has_value() || missing_here == 0 || missing_here < missing) {
      placed = std::move(draft);
      missing = missing_here;
    }
    return needed;
  };
  PARTITA_ASSIGN_OR_RETURN(
      const PlacementTable table,
      placing.planner.Place(function, machine_, catalog_,
                            {.goal = GoalOf(options_),
                             .memory_limits = placing.limits,
                             .depth = options_.depth,
                             .needed_bytes = count},
                            options));
  std::vector<Placement> placements = PlacementsOf(table);
  if (!placed.has_value() || placed->placements != placements) {
    PARTITA_ASSIGN_OR_RETURN(
        placed, PartitionAs(function, number, std::move(placements), homes));
  }
  placed->notes = ReasonNotes(function, table);
  DecideHomes(*placed->graph, homes);
  return *std::move(placed);
}

absl::StatusOr<Compilation::PlacedModule> Compilation::Place(
    const PlacingOptions& placing) {
  PlacedModule placed{source_.Clone(), {}, {}};
  placed.functions.resize(placed.module.functions().size());
  VariableHomes homes = HomesToDecide(placed.module);
  std::vector<PlacedFunction*> decided;
  PARTITA_RETURN_IF_ERROR(Stage("place", [&]() -> absl::Status {
    for (int i : DecidingOrder(placed.module)) {
      PARTITA_ASSIGN_OR_RETURN(
          placed.functions[i],
          PlaceFunction(placing, i, *placed.module.functions()[i], decided,
                        homes));
      decided.push_back(&placed.functions[i]);
      placed.fingerprints.push_back(placed.functions[i].fingerprint);
    }
    return absl::OkStatus();
  }));
  return placed;
}

absl::Status Compilation::Count(int number, PlacedFunction& placed) {
  if (placed.counted.has_value()) return absl::OkStatus();
  Graph& graph = *placed.graph;
  placed.without_kernels = graph.Clone(&graph.literals());
  PARTITA_RETURN_IF_ERROR(Stage("kernels", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(placed.chosen,
                             ChooseKernels(graph, catalog_, traits_, packed_));
    return Verify(graph);
  }));
  if (!opening_codegen_.valid() &&
      absl::c_any_of(graph.ops(), HasGeneratedKernel)) {
    opening_codegen_ = OpenCodegenSoon();
  }
  return Stage("lower", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(placed.counted,
                             lowering_->CountLiveBytes(graph, number));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<int64_t>> Compilation::NeededBytes(
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
    for (size_t i = 0; i < functions.size(); ++i) {
      PARTITA_RETURN_IF_ERROR(Count(deciding_order_[i], *functions[i]));
      counted.push_back(&*functions[i]->counted);
    }
    return lowering_->NeededBytes(counted);
  };
  return needed_.emplace(std::move(fingerprints), count()).first->second;
}

Compilation::MissingBytes Compilation::MissingIn(
    absl::Span<const int64_t> needed) const {
  MissingBytes most;
  for (size_t d = 0; d < needed.size(); ++d) {
    const int64_t bytes = needed[d] - usable_[d];
    if (bytes > most.bytes) most = {static_cast<int>(d), bytes};
  }
  return most;
}

Compilation::MissingBytes Compilation::MissingIn(
    const absl::Status& refusal) const {
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  if (!shortage.has_value()) return {};
  const auto device = absl::c_find_if(traits_, [&](const DeviceTraits& traits) {
    return traits.name == shortage->device;
  });
  return {static_cast<int>(device - traits_.begin()), shortage->missing()};
}

absl::StatusOr<Attempt> Compilation::Finish(const PlacingOptions& placing,
                                            PlacedModule placed) {
  const Fingerprints& key = placed.fingerprints;
  if (const auto before = refused_.find(key); before != refused_.end()) {
    return before->second;
  }
  Attempt attempt;
  std::vector<CountedFunction> counted;
  const int num_functions = static_cast<int>(placed.functions.size());
  for (int i = 0; i < num_functions; ++i) {
    PlacedFunction& function = placed.functions[i];
    PARTITA_RETURN_IF_ERROR(Count(i, function));
    counted.push_back(*std::move(function.counted));
    attempt.notes.push_back(std::move(function.notes));
    attempt.chosen.push_back(std::move(function.chosen));
    if (placing.with_texts) {
      placed.module.SetFunction(
          i, function.without_kernels->Clone(&placed.module.literals()));
    }
    attempt.placed.push_back(std::move(function.without_kernels));
  }
  if (placing.with_texts) attempt.placed_text = PrintModule(placed.module);
  for (int i = 0; i < num_functions; ++i) {
    placed.module.SetFunction(i, std::move(placed.functions[i].graph));
  }
  if (placing.with_texts) attempt.kernels_text = PrintModule(placed.module);
  absl::StatusOr<Plan> plan = absl::UnknownError("");
  PARTITA_RETURN_IF_ERROR(Stage("lay out", [&] {
    plan = lowering_->Finish(std::move(placed.module), std::move(counted));
    return absl::OkStatus();
  }));
  if (!plan.ok()) {
    refused_.emplace(key, plan.status());
    return plan.status();
  }
  attempt.plan = *std::move(plan);
  planned_.emplace(key, placing.planner.name);
  return attempt;
}

absl::StatusOr<Attempt> Compilation::Try(const Planner& planner,
                                         bool with_texts) {
  if (!lowering_.has_value()) {
    lowering_.emplace(machine_, LowerOptions{.depth = options_.depth,
                                             .micro_batches = micro_batches_});
    deciding_order_ = DecidingOrder(source_);
  }
  PlacingOptions placing{planner, usable_, with_texts};
  // The placement that misses least, or its refusal.
  std::optional<PlacedModule> least;
  absl::Status refusal;
  int64_t least_bytes = 0;
  int vain = 0;
  const int most_rounds = planner.reads_memory_limits ? kMostRounds : 1;
  for (int round = 0; round < most_rounds && vain < kMostVainRounds; ++round) {
    absl::StatusOr<PlacedModule> attempted = Place(placing);
    // Within less memory there may be no placement; an earlier one is left.
    if (!attempted.ok() && round > 0) break;
    PARTITA_ASSIGN_OR_RETURN(PlacedModule placed, std::move(attempted));
    const auto same = planned_.find(placed.fingerprints);
    if (same != planned_.end()) return Attempt{.repeats = same->second};
    std::vector<PlacedFunction*> functions;
    for (int i : deciding_order_) functions.push_back(&placed.functions[i]);
    PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> needed,
                             NeededBytes(functions));
    MissingBytes missing = MissingIn(needed);
    absl::Status packed;
    if (missing.device < 0) {
      // Packing may take more than was counted.
      absl::StatusOr<Attempt> attempt = Finish(placing, std::move(placed));
      packed = attempt.status();
      missing = MissingIn(packed);
      if (missing.device < 0) return attempt;
    }
    ++vain;
    if (round == 0 || missing.bytes < least_bytes) {
      vain = 0;
      least_bytes = missing.bytes;
      refusal = packed;
      least.reset();
      if (packed.ok()) least.emplace(std::move(placed));
    }
    int64_t& limit = placing.limits[missing.device];
    limit = std::max<int64_t>(0, limit - missing.bytes);
  }
  if (least.has_value()) return Finish(placing, *std::move(least));
  return refusal;
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

absl::Status Compilation::Prove(Attempt& attempt) {
  Plan& plan = attempt.plan;
  return Stage("prove", [&]() -> absl::Status {
    const auto& functions = plan.module.functions();
    for (size_t i = 0; i < functions.size(); ++i) {
      PARTITA_RETURN_IF_ERROR(VerifyBinding(*attempt.placed[i], *functions[i]));
    }
    absl::StatusOr<Certificate> certificate = CheckPlan(plan);
    if (!certificate.ok()) {
      return absl::InternalError(
          absl::StrCat("bug: the checker refuses the plan that this compiler "
                       "made: ",
                       certificate.status().message()));
    }
    AddProof(kBoundIsPlaced, "", *certificate);
    AddProof(kPlacedIsOptimised, ", from the dimension rules", *certificate);
    certificate->plan_hash = PlanHash(plan);
    plan.certificate = *std::move(certificate);
    return absl::OkStatus();
  });
}

}  // namespace partita
