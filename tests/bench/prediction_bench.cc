// Predicted steps beside measured ones, by rooflines and by a profile that is
// measured first: docs/benchmarks.md.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"
#include "partita/compile.h"
#include "partita/machine_catalog.h"
#include "partita/profile/measure_machine.h"
#include "partita/session.h"
#include "placement/machine/detect_host.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/simulate.h"
#include "tests/bench/prediction_statistics.h"
#include "tests/bench/scale_models.h"
#include "tools/partita/arguments.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"only", "TEXT", "only the models whose name contains TEXT"},
    {"steps", "N", "measured steps of each plan (default 20)"},
    {"time-budget", "SECONDS", "of the profile (default 120)"},
};

struct Model {
  std::string name;
  std::function<absl::StatusOr<Module>()> make;
};

std::vector<Model> Models() {
  return {
      {"perceptron", [] { return TwoLayerPerceptron(); }},
      {"wide perceptron",
       [] { return TwoLayerPerceptron({.batch = 256, .hidden = 1024}); }},
      {"small conv net", [] { return SmallConvNet(); }},
      {"larger conv net",
       [] { return SmallConvNet({.batch = 16, .image = 32, .channels = 32}); }},
      {"resnet50", [] { return ResNet50(); }},
      {"300 layers", [] { return LayeredModel(300, 8); }},
      {"mnist training", [] { return MnistTraining(); }},
      {"mnist training, batch 256",
       [] { return MnistTraining({.batch = 256}); }},
      {"resnet18 training",
       [] { return ResNet18Training({.batch = 8, .width = 16}); }},
      {"gpt training, 1 layer",
       [] { return GptTraining({.batch = 8, .layers = 1}); }},
      {"gpt training, 4 layers", [] { return GptTraining({.batch = 16}); }},
      {"lstm training, batch 8", [] { return LstmTraining({.batch = 8}); }},
      {"lstm training, batch 32", [] { return LstmTraining(); }},
  };
}

struct Strategy {
  std::string name;
  CompileOptions options;
};

std::vector<Strategy> Strategies() {
  std::vector<Strategy> strategies;
  for (const char* name : {"single", "list", "pipeline", "data"}) {
    strategies.push_back({name, {.strategy = name}});
  }
  CompileOptions split;
  split.strategy = "pinned";
  split.pins = {{.pattern = "*", .devices = {"cpu:0", "cpu:1"}, .dim = 1}};
  strategies.push_back({"split", std::move(split)});
  return strategies;
}

// The host as two equal devices, as many as a plan keeps busy.
absl::StatusOr<Machine> HalvesOfHost() {
  Machine machine = DetectHost({.gpus = false});
  MachineDevice& cpu = machine.devices[0];
  if (cpu.traits.threads < 2) {
    return absl::FailedPreconditionError(
        "prediction_bench: found one thread; expected two or more");
  }
  cpu.traits.threads /= 2;
  cpu.memory /= 2;
  cpu.reserve /= 2;
  cpu.traits.memory_bandwidth /= 2;
  for (double& peak : cpu.traits.peak_flops) peak /= 2;
  machine.devices.push_back(cpu);
  machine.devices[1].traits.name = "cpu:1";
  machine.links = {{.from = "cpu:0",
                    .to = "cpu:1",
                    .bandwidth = cpu.traits.memory_bandwidth / 2}};
  return machine;
}

// Of the plan's first entry, at the machine's prices.
absl::StatusOr<double> Predict(const Plan& plan, const Machine& machine) {
  const MachineCatalog prices(machine);
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<double> seconds,
      PlacedNodeSeconds(*plan.entries[0].graph, machine, prices.catalog()));
  PARTITA_ASSIGN_OR_RETURN(const Simulation simulation,
                           Simulate(plan, 0, machine, seconds));
  return simulation.step_seconds;
}

// The median step; the first ones warm up.
absl::StatusOr<double> Measure(std::shared_ptr<const Plan> plan, int steps) {
  constexpr int kWarmUp = 3;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Create(std::move(plan)));
  for (int i = 0; i < session->num_inputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(session->SetInput(
        i, RandomTensor(session->input_type(i), /*seed=*/1 + i, 0, 2)));
  }
  std::vector<double> seconds;
  for (int step = 0; step < steps + kWarmUp; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    PARTITA_RETURN_IF_ERROR(session->Run());
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - begin;
    if (step >= kWarmUp) seconds.push_back(taken.count());
  }
  absl::c_sort(seconds);
  return seconds[seconds.size() / 2];
}

// Pairs of all plans so far.
struct Table {
  std::vector<PredictedSeconds> by_rooflines;
  std::vector<PredictedSeconds> by_profile;
};

void PrintErrors(const char* by, const std::vector<PredictedSeconds>& pairs) {
  const PredictionErrors errors = ErrorsOf(pairs);
  std::printf("%s: mean error %.1f %%, worst %.1f %%, Spearman %.3f\n", by,
              100 * errors.mean, 100 * errors.worst, errors.spearman);
}

absl::Status AddRow(const Model& model, const Strategy& strategy,
                    const Machine& plain, const Machine& profiled, int steps,
                    Table& table) {
  PARTITA_ASSIGN_OR_RETURN(Module module, model.make());
  PARTITA_ASSIGN_OR_RETURN(
      Compiled compiled,
      Compile(std::move(module), profiled, strategy.options));
  const auto plan = std::make_shared<const Plan>(std::move(compiled.plan));
  PARTITA_ASSIGN_OR_RETURN(const double roofline, Predict(*plan, plain));
  PARTITA_ASSIGN_OR_RETURN(const double profile, Predict(*plan, profiled));
  PARTITA_ASSIGN_OR_RETURN(const double measured, Measure(plan, steps));
  table.by_rooflines.push_back({roofline, measured});
  table.by_profile.push_back({profile, measured});
  std::printf("| %s | %s | %.3f ms | %.3f ms | %.0f %% | %.3f ms | %.0f %% |\n",
              model.name.c_str(), strategy.name.c_str(), measured * 1e3,
              roofline * 1e3, 100 * RelativeError(table.by_rooflines.back()),
              profile * 1e3, 100 * RelativeError(table.by_profile.back()));
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::StatusOr<Machine> Profiled(const Machine& plain,
                                 const std::vector<Model>& models,
                                 double budget) {
  std::vector<Module> modules;
  for (const Model& model : models) {
    PARTITA_ASSIGN_OR_RETURN(modules.emplace_back(), model.make());
  }
  PARTITA_ASSIGN_OR_RETURN(
      MachineMeasurements measured,
      MeasureMachine(plain, modules, Profile(), {.seconds = budget}));
  std::printf("profile: %zu kernels, %d not measured in time\n\n",
              measured.profile.nodes.size(), measured.kernels_left);
  Machine machine = plain;
  PARTITA_RETURN_IF_ERROR(
      UseProfile(std::move(measured.profile), "profile", machine));
  return machine;
}

absl::Status Run(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t steps,
                           arguments.GetInt("steps", 20, 1, 100'000));
  PARTITA_ASSIGN_OR_RETURN(const double budget,
                           arguments.GetDouble("time-budget", 120));
  std::vector<Model> models = Models();
  std::erase_if(models, [&](const Model& model) {
    return !absl::StrContains(model.name, arguments.Get("only", ""));
  });
  PARTITA_ASSIGN_OR_RETURN(const Machine plain, HalvesOfHost());
  PARTITA_ASSIGN_OR_RETURN(const Machine profiled,
                           Profiled(plain, models, budget));
  std::printf(
      "| model | strategy | measured | by rooflines | error | by the "
      "profile | error |\n| --- | --- | --- | --- | --- | --- | --- "
      "|\n");
  Table table;
  for (const Model& model : models) {
    for (const Strategy& strategy : Strategies()) {
      const absl::Status status = AddRow(model, strategy, plain, profiled,
                                         static_cast<int>(steps), table);
      if (status.ok()) continue;
      std::fprintf(stderr, "%s by %s: %s\n", model.name.c_str(),
                   strategy.name.c_str(),
                   std::string(status.message()).c_str());
    }
  }
  if (table.by_profile.empty()) {
    return absl::NotFoundError("found no plan; expected one or more");
  }
  std::printf("\n%zu plans\n", table.by_profile.size());
  PrintErrors("by rooflines", table.by_rooflines);
  PrintErrors("by the profile", table.by_profile);
  return absl::OkStatus();
}

absl::Status Main(absl::Span<const char* const> words) {
  PARTITA_ASSIGN_OR_RETURN(const Arguments arguments,
                           Arguments::Parse(words, kFlags));
  return Run(arguments);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  const absl::Status status = partita::Main(absl::MakeConstSpan(
      const_cast<const char* const*>(argv + 1), static_cast<size_t>(argc - 1)));
  if (status.ok()) return 0;
  std::fprintf(stderr, "prediction_bench: %s\n",
               std::string(status.message()).c_str());
  return 1;
}
