// Compiles for halves of this host, predicts, and measures.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/prediction.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"
#include "partita/machine_catalog.h"
#include "partita/profile/measure_machine.h"
#include "partita/profile/profile_file.h"
#include "partita/profile/this_host.h"
#include "partita/session.h"
#include "placement/machine/detect_host.h"
#include "placement/machine/profile.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

struct StrategyOptions {
  std::string name;
  CompileOptions options;
};

std::vector<StrategyOptions> Strategies() {
  std::vector<StrategyOptions> strategies;
  for (const char* name : {"single", "list", "pipeline", "data"}) {
    strategies.push_back({name, {.strategy = name}});
  }
  CompileOptions split;
  split.strategy = "pinned";
  split.pins = {{.pattern = "*", .devices = {"cpu:0", "cpu:1"}, .dim = 1}};
  strategies.push_back({"split", std::move(split)});
  return strategies;
}

// Of the plan's first entry, at the machine's prices.
absl::StatusOr<double> PredictedStep(const Plan& plan, const Machine& machine) {
  const MachineCatalog prices(machine);
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<double> seconds,
      PlacedNodeSeconds(*plan.entries[0].graph, machine, prices.catalog()));
  PARTITA_RETURN_IF_ERROR(prices.Check());
  PARTITA_ASSIGN_OR_RETURN(const Simulation simulation,
                           Simulate(plan, 0, machine, seconds));
  return simulation.step_seconds;
}

absl::StatusOr<double> SecondsOfStep(Session& session) {
  const auto begin = std::chrono::steady_clock::now();
  PARTITA_RETURN_IF_ERROR(session.Run());
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  return taken.count();
}

double Median(std::vector<double> values) {
  absl::c_sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

// The median step of a new session: where its memory is placed differs from
// session to session, and with it the step.
absl::StatusOr<double> MeasureRound(std::shared_ptr<const Plan> plan,
                                    int steps) {
  constexpr int kWarmUp = 3;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Create(std::move(plan)));
  for (int i = 0; i < session->num_inputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(session->SetInput(
        i, RandomTensor(session->input_type(i), /*seed=*/1 + i, 0, 2)));
  }
  std::vector<double> seconds;
  for (int step = -kWarmUp; step < steps; ++step) {
    PARTITA_ASSIGN_OR_RETURN(const double taken, SecondsOfStep(*session));
    if (step >= 0) seconds.push_back(taken);
  }
  return Median(std::move(seconds));
}

absl::StatusOr<std::vector<double>> MeasureRounds(
    const std::shared_ptr<const Plan>& plan, const StepRounds& rounds) {
  std::vector<double> medians;
  for (int round = 0; round < rounds.rounds; ++round) {
    PARTITA_ASSIGN_OR_RETURN(medians.emplace_back(),
                             MeasureRound(plan, rounds.steps));
  }
  return medians;
}

std::string HostText() {
  const ProfileHost host = ThisProfileHost();
  return absl::StrCat(host.cpu, ", ", host.isa, ", ", host.threads, " threads");
}

absl::StatusOr<Profile> MeasureModels(const Machine& machine,
                                      double budget_seconds) {
  std::vector<Module> modules;
  for (const BenchmarkModel& model : BenchmarkModels()) {
    PARTITA_ASSIGN_OR_RETURN(modules.emplace_back(), model.make());
  }
  PARTITA_ASSIGN_OR_RETURN(
      MachineMeasurements measured,
      MeasureMachine(machine, modules, Profile(), {.seconds = budget_seconds}));
  return std::move(measured.profile);
}

}  // namespace

std::string PredictionCase::key() const {
  return absl::StrCat(model.name, "/", strategy);
}

std::vector<PredictionCase> PredictionCases() {
  std::vector<PredictionCase> cases;
  for (const BenchmarkModel& model : BenchmarkModels()) {
    for (const StrategyOptions& strategy : Strategies()) {
      cases.push_back({model, strategy.name, strategy.options});
    }
  }
  return cases;
}

absl::StatusOr<Machine> HalvesOfHost() {
  Machine machine = DetectHost({.gpus = false});
  MachineDevice& cpu = machine.devices[0];
  if (cpu.traits.threads < 2) {
    return absl::FailedPreconditionError(
        "this host: found one thread; expected two or more, as many as a plan "
        "has busy devices");
  }
  cpu.traits.threads /= 2;
  cpu.memory /= 2;
  cpu.reserve /= 2;
  cpu.traits.memory_bandwidth /= 2;
  for (double& peak : cpu.traits.peak_flops) peak /= 2;
  const double link_bandwidth = cpu.traits.memory_bandwidth / 2;
  machine.devices.push_back(cpu);
  machine.devices[1].traits.name = "cpu:1";
  machine.links = {
      {.from = "cpu:0", .to = "cpu:1", .bandwidth = link_bandwidth}};
  return machine;
}

absl::StatusOr<Machine> WithProfile(const Machine& machine,
                                    const std::string& file,
                                    double budget_seconds) {
  if (!std::filesystem::exists(file)) {
    PARTITA_ASSIGN_OR_RETURN(const Profile measured,
                             MeasureModels(machine, budget_seconds));
    PARTITA_RETURN_IF_ERROR(AddToProfileFile(measured, machine, file));
  }
  PARTITA_ASSIGN_OR_RETURN(Profile profile,
                           KnownProfile(machine, ThisProfileHost(), file));
  Machine profiled = machine;
  PARTITA_RETURN_IF_ERROR(UseProfile(std::move(profile), file, profiled));
  return profiled;
}

absl::StatusOr<RowCells> PredictionRow(const PredictionCase& plan_case,
                                       const Machine& plain,
                                       const Machine& profiled,
                                       const StepRounds& rounds) {
  PARTITA_ASSIGN_OR_RETURN(Module module, plan_case.model.make());
  absl::StatusOr<Compiled> compiled =
      Compile(std::move(module), profiled, plan_case.options);
  RowCells row = {plan_case.model.name, plan_case.strategy, HostText()};
  if (!compiled.ok()) {
    row.resize(kPredictionColumns.size() - 1);
    row.emplace_back(compiled.status().message());
    return row;
  }
  const auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
  PARTITA_ASSIGN_OR_RETURN(const double roofline, PredictedStep(*plan, plain));
  PARTITA_ASSIGN_OR_RETURN(const double by_profile,
                           PredictedStep(*plan, profiled));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<double> medians,
                           MeasureRounds(plan, rounds));
  row.push_back(absl::StrCat(plan->devices.size()));
  for (double seconds : {Median(medians), *absl::c_min_element(medians),
                         *absl::c_max_element(medians), roofline, by_profile}) {
    row.push_back(Microseconds(seconds));
  }
  row.emplace_back();
  return row;
}

}  // namespace partita
