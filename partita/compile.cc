// Runs the chain: passes, planner, partition, kernels, lowering, proof,
// prediction; again with less memory where lowering found a device short.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile.h"

#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "partita/catalogs.h"
#include "partita/compile_request.h"
#include "partita/predict.h"
#include "passes/choose_kernels.h"
#include "passes/layout_state.h"
#include "placement/lower/lower.h"
#include "placement/lower/memory_shortage.h"
#include "placement/partition/partition.h"
#include "placement/partition/verify_split.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

constexpr int kMaxReplans = 4;

// One attempt: a placed module on its way to a plan, and what was learned.
struct Attempt {
  Plan plan;
  std::vector<EntryNotes> notes;                  // by entry
  std::vector<std::vector<ChosenKernel>> chosen;  // by entry
  // The module after these stages, where somebody asked for it.
  std::string placed_text;
  std::string kernels_text;
};

class Compilation {
 public:
  Compilation(Module module, const Machine& machine,
              const CompileOptions& options)
      : source_(std::move(module)), machine_(machine), options_(options) {
    for (const MachineDevice& device : machine.devices) {
      traits_.push_back(device.traits);
      usable_.push_back(device.usable());
    }
  }

  // Runs `work` as a stage: progress before, duration after.
  template <typename Work>
  absl::Status Stage(absl::string_view name, Work work) {
    if (options_.progress) options_.progress(name);
    const auto start = std::chrono::steady_clock::now();
    absl::Status status = work();
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

  absl::Status Optimise() {
    return Stage("optimise", [&]() -> absl::Status {
      PARTITA_RETURN_IF_ERROR(VerifyModule(source_));
      PARTITA_ASSIGN_OR_RETURN(const std::vector<WrittenPin> pins,
                               WritePins(source_, machine_, options_.pins));
      for (const auto& function : source_.functions()) {
        PARTITA_RETURN_IF_ERROR(RunPipeline(SourcePasses(), options_.passes,
                                            *function, &report_.passes));
      }
      report_.idle_pins = PinsWithoutNodes(source_, pins);
      return absl::OkStatus();
    });
  }

  const Module& source() const { return source_; }
  Goal goal() const { return GoalOf(options_); }
  CompileReport& report() { return report_; }

  // A placed copy of the source, by this strategy.
  absl::StatusOr<Module> Place(const Planner& planner,
                               const std::vector<int64_t>& limits,
                               std::vector<EntryNotes>& notes) {
    Module module = source_.Clone();
    notes.clear();
    PARTITA_RETURN_IF_ERROR(Stage("place", [&]() -> absl::Status {
      for (const auto& function : module.functions()) {
        PARTITA_ASSIGN_OR_RETURN(
            const PlacementTable table,
            planner.plan(*function, machine_, BuiltInCatalog(),
                         {.goal = goal(), .memory_limits = limits},
                         options_.planner));
        notes.push_back(ReasonNotes(*function, table));
        const std::unique_ptr<Graph> before =
            function->Clone(&function->literals());
        PARTITA_RETURN_IF_ERROR(Partition(*function, table, machine_));
        PARTITA_RETURN_IF_ERROR(Verify(*function));
        PARTITA_RETURN_IF_ERROR(VerifySplit(*before, *function));
      }
      return absl::OkStatus();
    }));
    return module;
  }

  absl::Status BindKernels(Module& module,
                           std::vector<std::vector<ChosenKernel>>& chosen) {
    chosen.clear();
    return Stage("kernels", [&]() -> absl::Status {
      for (const auto& function : module.functions()) {
        PARTITA_ASSIGN_OR_RETURN(
            std::vector<ChosenKernel> kernels,
            ChooseKernels(*function, BuiltInCatalog(), traits_, packed_));
        PARTITA_RETURN_IF_ERROR(Verify(*function));
        chosen.push_back(std::move(kernels));
      }
      return absl::OkStatus();
    });
  }

  // Lowering may find a device short that the planner thought large enough:
  // then the planner is asked again with that much less. Where that leads
  // nowhere, lowering's refusal is told, which knows what the plan takes.
  absl::StatusOr<Attempt> Try(const Planner& planner, bool with_texts = false) {
    std::vector<int64_t> limits = usable_;
    absl::Status shortage;
    for (int round = 0;; ++round) {
      Attempt attempt;
      absl::StatusOr<Module> placed = Place(planner, limits, attempt.notes);
      if (absl::IsResourceExhausted(placed.status()) && !shortage.ok()) {
        return shortage;
      }
      PARTITA_RETURN_IF_ERROR(placed.status());
      Module module = *std::move(placed);
      if (with_texts) attempt.placed_text = PrintModule(module);
      PARTITA_RETURN_IF_ERROR(BindKernels(module, attempt.chosen));
      if (with_texts) attempt.kernels_text = PrintModule(module);
      absl::StatusOr<Plan> plan = absl::UnknownError("");
      PARTITA_RETURN_IF_ERROR(Stage("lower", [&] {
        plan = Lower(std::move(module), machine_, {.depth = options_.depth});
        return absl::OkStatus();
      }));
      if (plan.ok()) {
        attempt.plan = *std::move(plan);
        return attempt;
      }
      if (round == kMaxReplans || !LowerLimit(plan.status(), limits)) {
        return plan.status();
      }
      if (shortage.ok()) shortage = plan.status();
    }
  }

  // Generated code for the plan's nodes: one image for each instruction set.
  absl::Status BuildImages(Plan& plan) {
    return Stage("images", [&]() -> absl::Status {
      absl::btree_map<std::string, const DeviceTraits*> targets;
      for (const DeviceTraits& device : traits_) {
        if (device.kind == DeviceKind::kCpu) {
          targets.emplace(device.isa, &device);
        }
      }
      for (const auto& [isa, device] : targets) {
        std::vector<std::unique_ptr<Graph>> pieces;
        PARTITA_ASSIGN_OR_RETURN(const std::vector<OpView> nodes,
                                 NodesOf(plan, isa, pieces));
        auto images = BuiltInCatalog().BuildImages(nodes, *device);
        if (absl::IsUnimplemented(images.status())) continue;
        PARTITA_RETURN_IF_ERROR(images.status());
        absl::c_move(*images, std::back_inserter(plan.images));
      }
      return absl::OkStatus();
    });
  }

  absl::Status Prove(Plan& plan) {
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

  absl::Status Predict(Attempt& attempt, Prediction& prediction) {
    return Stage("predict", [&]() -> absl::Status {
      PARTITA_ASSIGN_OR_RETURN(
          prediction, PredictPlan(attempt.plan, machine_, attempt.chosen,
                                  std::move(attempt.notes)));
      return absl::OkStatus();
    });
  }

 private:
  static EntryNotes ReasonNotes(const Graph& graph,
                                const PlacementTable& table) {
    EntryNotes notes;
    for (NodeId node : graph.order()) {
      const PlacedNode& placed = table.nodes[node.index];
      if (!placed.placement.placed()) continue;
      notes.nodes.push_back({node, ReasonText(graph, placed), 0});
    }
    return notes;
  }

  // What CPUs of this instruction set compute: nodes, and `pieces` of cut ones.
  absl::StatusOr<std::vector<OpView>> NodesOf(
      const Plan& plan, const std::string& isa,
      std::vector<std::unique_ptr<Graph>>& pieces) const {
    absl::flat_hash_set<std::string> devices;
    for (const DeviceTraits& device : traits_) {
      if (device.kind == DeviceKind::kCpu && device.isa == isa) {
        devices.insert(device.name);
      }
    }
    std::vector<OpView> nodes;
    for (const auto& function : plan.module.functions()) {
      for (const OpView& op : function->ops()) {
        if (!op.node().kernel.has_value()) continue;
        const auto& members = op.node().placement.devices;
        for (size_t m = 0; m < members.size(); ++m) {
          if (!devices.contains(members[m])) continue;
          nodes.push_back(op);
          if (!IsCut(op)) break;
          PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Graph> piece,
                                   CutNode(op, static_cast<int>(m)));
          nodes.back() = piece->ops().front();
          pieces.push_back(std::move(piece));
        }
      }
    }
    return nodes;
  }

  bool LowerLimit(const absl::Status& status, std::vector<int64_t>& limits) {
    const std::optional<MissingBytes> missing = MissingBytesOf(status);
    if (!missing.has_value()) return false;
    for (size_t i = 0; i < traits_.size(); ++i) {
      if (traits_[i].name != missing->device) continue;
      limits[i] -= missing->bytes;
      return limits[i] > 0;
    }
    return false;
  }

  Module source_;
  const Machine& machine_;
  const CompileOptions& options_;
  std::vector<DeviceTraits> traits_;
  std::vector<int64_t> usable_;
  PackedConstants packed_;
  CompileReport report_;
};

// Tells the strategies' refusals; a fault of the request, which all of them
// refuse alike, once.
absl::Status NothingFits(const std::vector<Candidate>& candidates,
                         const absl::Status& first) {
  const bool all_alike =
      absl::c_all_of(candidates, [&](const Candidate& candidate) {
        return candidate.refusal == first.message();
      });
  if (all_alike) return first;
  std::string text = "found no strategy whose plan fits this machine:";
  for (const Candidate& candidate : candidates) {
    absl::StrAppend(&text, "\n  ", candidate.strategy, ": ", candidate.refusal);
  }
  return absl::Status(first.code(), text);
}

// What the prediction says of the goal: the less, the better.
double Score(const Prediction& prediction, Goal goal) {
  return goal == Goal::kLatency ? prediction.latency_seconds
                                : prediction.step_seconds;
}

// For the page: which strategy won, and what became of the others.
std::string Summary(const CompileReport& report) {
  std::string text = absl::StrCat("placed by ", report.strategy);
  for (const Candidate& candidate : report.candidates) {
    if (candidate.strategy == report.strategy) continue;
    absl::StrAppend(
        &text, "\n", candidate.strategy, ": ",
        candidate.refusal.empty()
            ? absl::StrFormat("%.3g ms a step", candidate.step_seconds * 1e3)
            : candidate.refusal);
  }
  return text;
}

}  // namespace

absl::StatusOr<Compiled> Compile(Module module, const Machine& machine,
                                 const CompileOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckRequest(machine, options));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(module, options));
  Compilation compilation(std::move(module), machine, options);
  PARTITA_RETURN_IF_ERROR(compilation.Optimise());
  std::optional<Attempt> best;
  Prediction best_prediction;
  absl::Status first_refusal;
  CompileReport& report = compilation.report();
  const Goal goal = compilation.goal();
  for (const Planner& planner : planners) {
    Candidate& candidate = report.candidates.emplace_back();
    candidate.strategy = planner.name;
    absl::StatusOr<Attempt> attempt = compilation.Try(planner);
    if (!attempt.ok()) {
      if (first_refusal.ok()) first_refusal = attempt.status();
      candidate.refusal = std::string(attempt.status().message());
      continue;
    }
    Prediction prediction;
    if (absl::Status status = compilation.Predict(*attempt, prediction);
        !status.ok()) {
      if (first_refusal.ok()) first_refusal = status;
      candidate.refusal = std::string(status.message());
      continue;
    }
    candidate.step_seconds = prediction.step_seconds;
    candidate.latency_seconds = prediction.latency_seconds;
    // Ties keep the earlier strategy, which is the simpler one.
    if (best.has_value() &&
        Score(prediction, goal) >= Score(best_prediction, goal)) {
      continue;
    }
    report.strategy = planner.name;
    best = *std::move(attempt);
    best_prediction = std::move(prediction);
  }
  if (!best.has_value()) return NothingFits(report.candidates, first_refusal);
  if (!options.plan_name.empty()) best->plan.name = options.plan_name;
  best->plan.notes = std::move(best_prediction.notes);
  best->plan.notes->summary = Summary(report);
  PARTITA_RETURN_IF_ERROR(compilation.BuildImages(best->plan));
  PARTITA_RETURN_IF_ERROR(compilation.Prove(best->plan));
  PARTITA_RETURN_IF_ERROR(
      FillReport(best->plan, best_prediction, best->chosen, report));
  return Compiled{std::move(best->plan), std::move(report)};
}

absl::StatusOr<std::string> CompileTo(absl::string_view stage, Module module,
                                      const Machine& machine,
                                      const CompileOptions& options) {
  if (stage == "plan") {
    PARTITA_ASSIGN_OR_RETURN(const Compiled compiled,
                             Compile(std::move(module), machine, options));
    return PrintPlan(compiled.plan);
  }
  if (stage != "optimised" && stage != "placed" && stage != "kernels") {
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", stage, ": found no such stage; expected ",
                     "optimised, placed, kernels or plan"));
  }
  PARTITA_RETURN_IF_ERROR(CheckRequest(machine, options));
  Compilation compilation(std::move(module), machine, options);
  PARTITA_RETURN_IF_ERROR(compilation.Optimise());
  if (stage == "optimised") return PrintModule(compilation.source());
  if (options.strategy == "auto") {
    return absl::InvalidArgumentError(absl::StrCat(
        "stage ", stage,
        ": found strategy auto, which chooses among "
        "finished plans; expected a strategy by name, such as list"));
  }
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(compilation.source(), options));
  PARTITA_ASSIGN_OR_RETURN(
      const Attempt attempt,
      compilation.Try(planners.front(), /*with_texts=*/true));
  return stage == "placed" ? attempt.placed_text : attempt.kernels_text;
}

}  // namespace partita
