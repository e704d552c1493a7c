// Times compilations in child processes.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/scale.h"

#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/graph.h"
#include "graph/status_macros.h"
#include "partita/backends/built_in_catalog.h"
#include "partita/compile.h"
#include "partita/profile/this_host.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/plan.h"
#include "tests/bench/isolated_run.h"
#include "tests/bench/scale_models.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{64} << 30;
constexpr int kDevices = 8;
constexpr int kStepNodes = 1'056;
constexpr int kNodes = 10'656;
constexpr int kPipelinedNodes = 7'208;
constexpr int kPipelinedMicroBatches = 16;
// Of kNodes, about one command for four nodes in each micro-batch.
constexpr int kMillionMicroBatches = 400;
constexpr int kSizes[] = {1'056, 3'360, 10'656, 33'600, 106'656};
constexpr int kDeviceCounts[] = {2, 4, 8, 16, 32, 64};

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

const char* ModelName(ScaleModel model) {
  return model == ScaleModel::kInference ? "inference" : "training";
}

const char* KindName(ScaleDevices kind) {
  return kind == ScaleDevices::kCpus ? "cpus" : "gpus";
}

// Several rows for each of the micro-batches and devices.
int64_t BatchOf(const ScaleCase& scale_case) {
  return int64_t{2} * scale_case.devices * scale_case.micro_batches;
}

absl::StatusOr<Module> ModuleOf(const ScaleCase& scale_case) {
  return scale_case.model == ScaleModel::kInference
             ? LayeredModel(scale_case.nodes, BatchOf(scale_case))
             : TrainingModel(scale_case.nodes, BatchOf(scale_case));
}

Machine MachineOf(const ScaleCase& scale_case) {
  return scale_case.kind == ScaleDevices::kCpus
             ? EqualCpus(scale_case.devices, kMemory)
             : CpuAndGpus(scale_case.devices, kMemory);
}

absl::StatusOr<int64_t> CommandsOf(const Plan& plan) {
  int64_t commands = 0;
  for (const Entry& entry : plan.entries) {
    PARTITA_ASSIGN_OR_RETURN(const CommandList expanded, Expand(entry));
    commands += static_cast<int64_t>(expanded.size());
  }
  return commands;
}

absl::Status SimulateEntries(const Plan& plan, const Machine& machine) {
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(
        const std::vector<double> seconds,
        PlacedNodeSeconds(*plan.entries[e].graph, machine, BuiltInCatalog()));
    PARTITA_RETURN_IF_ERROR(
        Simulate(plan, static_cast<int>(e), machine, seconds).status());
  }
  return absl::OkStatus();
}

void PrintStages(const CompileReport& report) {
  for (const StageTime& stage : report.stages) {
    std::fprintf(stderr, "  %-24s %8.3f s\n", stage.stage.c_str(),
                 stage.seconds);
  }
}

// Cells that a child measures: nodes, commands, compile s, simulate s, prove s.
constexpr size_t kMeasuredCells = 5;

absl::StatusOr<RowCells> Measure(const ScaleCase& scale_case,
                                 bool prints_stages) {
  PARTITA_ASSIGN_OR_RETURN(Module module, ModuleOf(scale_case));
  RowCells cells = {absl::StrCat(NodesOf(module))};
  const Machine machine = MachineOf(scale_case);
  CompileOptions options;
  options.strategy = scale_case.strategy;
  options.micro_batches = scale_case.micro_batches;
  auto begin = Clock::now();
  PARTITA_ASSIGN_OR_RETURN(const Compiled compiled,
                           Compile(std::move(module), machine, options));
  const double compile_seconds = SecondsSince(begin);
  if (prints_stages) PrintStages(compiled.report);
  PARTITA_ASSIGN_OR_RETURN(const int64_t commands, CommandsOf(compiled.plan));
  cells.push_back(absl::StrCat(commands));
  cells.push_back(absl::StrFormat("%.3f", compile_seconds));
  cells.resize(kMeasuredCells);
  if (!scale_case.is_simulated) return cells;
  begin = Clock::now();
  PARTITA_RETURN_IF_ERROR(SimulateEntries(compiled.plan, machine));
  cells[3] = absl::StrFormat("%.3f", SecondsSince(begin));
  begin = Clock::now();
  PARTITA_RETURN_IF_ERROR(ProvePlan(compiled.plan).status());
  cells[4] = absl::StrFormat("%.3f", SecondsSince(begin));
  return cells;
}

// What a child sends: cells between tabs, or one text.
std::string Encode(const absl::StatusOr<RowCells>& cells) {
  return cells.ok() ? absl::StrJoin(*cells, "\t")
                    : std::string(cells.status().message());
}

std::string HostText() {
  const ProfileHost host = ThisProfileHost();
  return absl::StrCat(host.cpu, ", ", host.isa, ", ", host.threads, " threads");
}

}  // namespace

std::string ScaleCase::key() const {
  return absl::StrCat(ModelName(model), "/", strategy, "/", nodes, "_nodes/",
                      devices, "_", KindName(kind),
                      micro_batches == 1
                          ? ""
                          : absl::StrCat("/", micro_batches, "_micro_batches"),
                      is_simulated ? "/simulated" : "");
}

std::vector<ScaleCase> ScaleCases() {
  std::vector<ScaleCase> cases;
  const auto add = [&](ScaleModel model, const char* strategy, int nodes,
                       int devices) -> ScaleCase& {
    return cases.emplace_back(ScaleCase{model, strategy, nodes, devices});
  };
  for (int nodes : kSizes) {
    add(ScaleModel::kInference, "list", nodes, kDevices);
  }
  for (const char* strategy : {"pipeline", "auto"}) {
    for (int nodes : {kSizes[0], kSizes[1], kSizes[2]}) {
      add(ScaleModel::kInference, strategy, nodes, kDevices);
    }
  }
  for (int devices : kDeviceCounts) {
    if (devices == kDevices) continue;  // in the series of sizes
    add(ScaleModel::kInference, "list", kNodes, devices);
  }
  for (int devices : kDeviceCounts) {
    add(ScaleModel::kTraining, "data", kStepNodes, devices);
  }
  for (const char* strategy : {"list", "data", "auto"}) {
    add(ScaleModel::kTraining, strategy, kStepNodes, kDevices).kind =
        ScaleDevices::kGpus;
  }
  for (int nodes :
       {kPipelinedNodes / 4, kPipelinedNodes / 2, kPipelinedNodes}) {
    add(ScaleModel::kTraining, "pipeline", nodes, kDevices).micro_batches =
        kPipelinedMicroBatches;
  }
  ScaleCase& million =
      add(ScaleModel::kInference, "pipeline", kNodes, kDevices);
  million.micro_batches = kMillionMicroBatches;
  million.is_simulated = true;
  return cases;
}

RowCells ScaleRow(const ScaleCase& scale_case, const ScaleRun& how) {
  const IsolatedRun run = RunIsolated(
      [&] { return Encode(Measure(scale_case, how.prints_stages)); },
      how.limit_seconds);
  RowCells measured = absl::StrSplit(run.text, '\t');
  std::string failure;
  if (!run.ended) {
    failure = absl::StrCat("ended by a signal: out of memory, or after ",
                           how.limit_seconds, " s");
  } else if (measured.size() != kMeasuredCells) {
    failure = run.text;
  }
  if (!failure.empty()) {
    measured.assign(kMeasuredCells, "");
    measured[0] = absl::StrCat(scale_case.nodes);
  }
  return {ModelName(scale_case.model),
          scale_case.strategy,
          measured[0],
          absl::StrCat(scale_case.devices),
          KindName(scale_case.kind),
          absl::StrCat(scale_case.micro_batches),
          measured[1],
          measured[2],
          measured[3],
          measured[4],
          absl::StrFormat("%.0f", run.peak_mebibytes),
          HostText(),
          failure};
}

}  // namespace partita
