// The time and memory of lowering and proving a large plan: a training step on
// many devices, each with its shard of the batch, or devices that all send to
// each other.
// SPDX-License-Identifier: Apache-2.0

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/builder/examples/models.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "partita/compile.h"
#include "placement/lower/lower_fixture.h"
#include "placement/lower/memory_bound.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/plan_file.h"

namespace partita {
namespace {

constexpr char kUsage[] =
    "usage: checker_bench compile DEVICES LAYERS PLAN\n"
    "       checker_bench chain DEVICES NODES NODES_BETWEEN_TURNS PLAN\n"
    "       checker_bench check PLAN\n";

double PeakMebibytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * time.tv_usec;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Prints how long it has existed, by wall time and by processor time.
class Stopwatch {
 public:
  std::string Text() const {
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - begin_;
    return absl::StrFormat("%.2f s (%.2f of a processor)", taken.count(),
                           CpuSeconds() - cpu_begin_);
  }

 private:
  const std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  const double cpu_begin_ = CpuSeconds();
};

// A small GPT; only its number of nodes matters.
absl::Status CompileStep(int devices, int layers, const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(Module module, GptTraining({.batch = 4 * devices,
                                                       .layers = layers,
                                                       .width = 16,
                                                       .heads = 2,
                                                       .context = 8,
                                                       .vocabulary = 32}));
  CompileOptions options;
  options.strategy = "data";
  const Stopwatch watch;
  PARTITA_ASSIGN_OR_RETURN(
      const Compiled compiled,
      Compile(std::move(module), EqualCpus(devices, int64_t{1} << 30),
              options));
  const std::string taken = watch.Text();
  for (const StageTime& stage : compiled.report.stages) {
    std::printf("%-12s %6.2f s\n", stage.stage.c_str(), stage.seconds);
  }
  std::printf("compiled in %s, %.0f MiB at the most\n", taken.c_str(),
              PeakMebibytes());
  return WritePlan(compiled.plan, path).status();
}

Module ChainOf(int devices, int nodes, int between) {
  Module module;
  Graph& graph = module.AddFunction("chain");
  ValueId x =
      graph.AddInput("x", {DType::kF32, {devices * 2, devices * 2}, {}});
  Sharding split = {.kind = Sharding::Kind::kSplit, .dim = 0};
  for (int i = 0; i < nodes; ++i) {
    if (i % between == between - 1) split.dim = 1 - split.dim;
    NodeSpec spec{.op = &kSoftmax,
                  .operands = {x},
                  .attributes = {{"axis", int64_t{1 - split.dim}}}};
    for (int d = 0; d < devices; ++d) {
      spec.placement.devices.push_back(absl::StrCat("gpu:", d));
    }
    spec.placement.operands = spec.placement.results = {split};
    x = *graph.AddValue(std::move(spec));
  }
  graph.SetOutputs({x}, {"y"});
  return module;
}

absl::Status CompileChain(int devices, int nodes, int between,
                          const std::string& path) {
  const Stopwatch watch;
  PARTITA_ASSIGN_OR_RETURN(
      const Plan plan,
      PlanOf(ChainOf(devices, nodes, between), LinkedMachine(devices)));
  std::printf("lowered in %s, %.0f MiB at the most\n", watch.Text().c_str(),
              PeakMebibytes());
  const Stopwatch bound_watch;
  PARTITA_RETURN_IF_ERROR(BoundMemory(plan, plan.entries[0]).status());
  std::printf("memory bounded in %s, %.0f MiB at the most\n",
              bound_watch.Text().c_str(), PeakMebibytes());
  return WritePlan(plan, path).status();
}

absl::Status Check(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const Plan plan, ReadPlan(path));
  for (const Entry& entry : plan.entries) {
    PARTITA_ASSIGN_OR_RETURN(const auto commands, Expand(entry));
    std::printf("@%s: %zu nodes, %zu streams, %zu commands\n",
                entry.name.c_str(), entry.graph->order().size(),
                entry.streams.size(), commands.size());
  }
  const double before = PeakMebibytes();
  const Stopwatch watch;
  PARTITA_RETURN_IF_ERROR(ProvePlan(plan).status());
  std::printf("proved in %s, %.0f MiB at the most, %.0f of them before\n",
              watch.Text().c_str(), PeakMebibytes(), before);
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "check" && argc == 3) return Check(argv[2]);
  if (mode == "compile" && argc == 5 && std::atoi(argv[2]) > 0 &&
      std::atoi(argv[3]) > 0) {
    return CompileStep(std::atoi(argv[2]), std::atoi(argv[3]), argv[4]);
  }
  if (mode == "chain" && argc == 6 && std::atoi(argv[2]) > 0 &&
      std::atoi(argv[3]) > 0 && std::atoi(argv[4]) > 0) {
    return CompileChain(std::atoi(argv[2]), std::atoi(argv[3]),
                        std::atoi(argv[4]), argv[5]);
  }
  return absl::InvalidArgumentError(kUsage);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  const absl::Status status = partita::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
