// Tests of measuring: what a plan binds, what steps teach, and that compilers
// read it. No test asserts a measured time.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "graph/builder/examples/models.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "partita/machine_catalog.h"
#include "partita/profile/busy_host.h"
#include "partita/profile/measure_collectives.h"
#include "partita/profile/measure_links.h"
#include "partita/profile/measure_machine.h"
#include "partita/profile/plan_kernels.h"
#include "partita/profile/profile_file.h"
#include "partita/profile/step_learner.h"
#include "partita/profile/this_host.h"
#include "partita/session.h"
#include "placement/machine/detect_host.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

const ProfileHost kHost = {.cpu = "Some CPU", .isa = "avx2", .threads = 2};

Machine OneCpu() {
  Machine machine = EqualCpus(1, int64_t{1} << 30);
  machine.devices[0].traits.launch_seconds = 1e-6;
  return machine;
}

Compiled CompiledFor(const Machine& machine) {
  auto compiled =
      Compile(*TwoLayerPerceptron(), machine, {.strategy = "single"});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *std::move(compiled);
}

// Kernels of a step that take `seconds` each, and other commands a second.
std::vector<MeasuredCommand> TraceOf(const Plan& plan, double seconds) {
  std::vector<MeasuredCommand> trace;
  const CommandList commands = *Expand(plan.entries[0]);
  for (CommandId id : commands.ids()) {
    const bool is_kernel = commands[id].kind == Command::Kind::kKernel;
    const double start = id.index;
    trace.push_back({id.index, start, start + (is_kernel ? seconds : 1)});
  }
  return trace;
}

Profile LearnedFrom(const Plan& plan, const std::vector<double>& steps) {
  StepLearner learner = *StepLearner::For(plan, 0);
  for (const double seconds : steps) learner.Add(TraceOf(plan, seconds));
  return *learner.Learned(kHost);
}

TEST(PlanKernelsTest, EveryBoundNodeHasARoofline) {
  const Compiled compiled = CompiledFor(OneCpu());
  const Entry& entry = compiled.plan.entries[0];
  const absl::StatusOr<PlanKernels> kernels =
      PlanKernels::Of(compiled.plan, entry);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  int bound = 0;
  for (const OpView& node : entry.graph->ops()) {
    bound += node.node().kernel.has_value();
  }
  EXPECT_GT(bound, 1);
  EXPECT_EQ(static_cast<int>(kernels->all().size()), bound);
  for (const PlanKernel& kernel : kernels->all()) {
    EXPECT_GT(kernel.node.roofline, 0) << kernel.node.signature;
  }
}

TEST(StepLearnerTest, AKernelHasTheMedianOfItsSteps) {
  const Compiled compiled = CompiledFor(OneCpu());
  const Profile learned = LearnedFrom(compiled.plan, {0.5, 0.001, 0.002});
  EXPECT_EQ(learned.host, kHost);
  ASSERT_EQ(learned.devices.size(), 1u);
  ASSERT_FALSE(learned.nodes.empty());
  for (const MeasuredNode& node : learned.nodes) {
    ASSERT_TRUE(node.in_steps.has_value());
    EXPECT_NEAR(node.in_steps->seconds, 0.002, 1e-9) << node.signature;
    EXPECT_EQ(node.in_steps->steps, 3);
    EXPECT_FALSE(node.warm.has_value());
  }
}

TEST(StepLearnerTest, WithoutAStepThereIsNothingToLearn) {
  const Compiled compiled = CompiledFor(OneCpu());
  const StepLearner learner = *StepLearner::For(compiled.plan, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(learner.Learned(kHost).status()));
}

TEST(ProfileFileTest, AFileIsMadeThenAddedTo) {
  const Compiled compiled = CompiledFor(OneCpu());
  const std::string path = testing::TempDir() + "/learned.profile";
  std::remove(path.c_str());
  const Profile one = LearnedFrom(compiled.plan, {0.001});
  ASSERT_TRUE(AddToProfileFile(one, OneCpu(), path).ok());
  EXPECT_EQ(ReadProfile(path)->nodes, one.nodes);
  ASSERT_TRUE(
      AddToProfileFile(LearnedFrom(compiled.plan, {0.003}), OneCpu(), path)
          .ok());
  const absl::StatusOr<Profile> both = ReadProfile(path);
  ASSERT_TRUE(both.ok()) << both.status();
  ASSERT_EQ(both->nodes.size(), one.nodes.size());
  EXPECT_NEAR(both->nodes[0].in_steps->seconds, 0.002, 1e-9);
  EXPECT_EQ(both->nodes[0].in_steps->steps, 2);
}

// Each reads the file, adds a node and writes it, again and again: without a
// lock, one overwrites what the other has added since it read.
TEST(ProfileFileTest, TwoWritersLoseNothing) {
  constexpr int kEach = 16;
  const Profile one = LearnedFrom(CompiledFor(OneCpu()).plan, {0.001});
  const std::string path = testing::TempDir() + "/two_writers.profile";
  std::remove(path.c_str());
  const auto add = [&](char writer) {
    for (int i = 0; i < kEach; ++i) {
      Profile fresh = one;
      fresh.nodes.resize(1);
      fresh.nodes[0].signature = std::string(1, writer) + std::to_string(i);
      const absl::Status added = AddToProfileFile(fresh, OneCpu(), path);
      EXPECT_TRUE(added.ok()) << added;
    }
  };
  std::thread other([&] { add('b'); });
  add('a');
  other.join();
  EXPECT_EQ(ReadProfile(path)->nodes.size(), 2u * kEach);
}

TEST(ProfileFileTest, AFileOfAnotherHostIsKept) {
  const Compiled compiled = CompiledFor(OneCpu());
  const std::string path = testing::TempDir() + "/other_host.profile";
  Profile other = LearnedFrom(compiled.plan, {0.001});
  other.host.cpu = "Another CPU";
  ASSERT_TRUE(WriteProfile(other, path).ok());
  const absl::Status status =
      AddToProfileFile(LearnedFrom(compiled.plan, {0.002}), OneCpu(), path);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(*ReadProfile(path), other);
}

TEST(ProfileFileTest, AFileOfAnotherMachineIsKept) {
  const Compiled compiled = CompiledFor(OneCpu());
  const std::string path = testing::TempDir() + "/other_machine.profile";
  Profile other = LearnedFrom(compiled.plan, {0.001});
  other.devices[0].threads = 7;
  ASSERT_TRUE(WriteProfile(other, path).ok());
  const absl::Status status =
      AddToProfileFile(LearnedFrom(compiled.plan, {0.002}), OneCpu(), path);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "of 7 threads")) << status;
  EXPECT_EQ(*ReadProfile(path), other);
}

TEST(ProfileFileTest, ADamagedFileIsKept) {
  const Compiled compiled = CompiledFor(OneCpu());
  const std::string path = testing::TempDir() + "/damaged.profile";
  std::ofstream(path) << "{\"format\": 1";
  EXPECT_FALSE(
      AddToProfileFile(LearnedFrom(compiled.plan, {0.002}), OneCpu(), path)
          .ok());
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "{\"format\": 1");
}

// Compile, its notes and simulate have the learned prices.
TEST(LearnedPricesTest, CompilersAndSimulationReadThem) {
  const Machine plain = OneCpu();
  Machine machine = plain;
  const Compiled before = CompiledFor(plain);
  const Profile learned = LearnedFrom(before.plan, {0.01});
  ASSERT_TRUE(UseProfile(learned, "p", machine).ok());
  const Compiled after = CompiledFor(machine);
  const Graph& graph = *after.plan.entries[0].graph;
  const MachineCatalog prices(machine);
  const absl::StatusOr<std::vector<double>> seconds =
      PlacedNodeSeconds(graph, machine, prices.catalog());
  ASSERT_TRUE(seconds.ok()) << seconds.status();
  int learned_nodes = 0;
  for (const NodeNote& note : after.plan.notes->entries[0].nodes) {
    EXPECT_EQ(note.seconds, (*seconds)[note.node.index]);
    // Traces have start and end, whose difference is rounded.
    learned_nodes += std::abs(note.seconds - 0.01) < 1e-9;
  }
  EXPECT_GT(learned_nodes, 1);
  EXPECT_GT(after.report.entries[0].step_seconds,
            before.report.entries[0].step_seconds);
  EXPECT_TRUE(prices.Check().ok());
}

TEST(LearnedPricesTest, TheSameProfileGivesTheSamePlanAndIsNoted) {
  Machine machine = OneCpu();
  const Profile learned = LearnedFrom(CompiledFor(machine).plan, {0.01});
  ASSERT_TRUE(UseProfile(learned, "p", machine).ok());
  const Compiled one = CompiledFor(machine);
  const Compiled two = CompiledFor(machine);
  EXPECT_EQ(PrintPlan(one.plan), PrintPlan(two.plan));
  EXPECT_EQ(one.plan.notes->machine_json, two.plan.notes->machine_json);
  EXPECT_TRUE(
      absl::StrContains(one.plan.notes->machine_json, ProfileHash(learned)));
}

TEST(FitLinkTest, LatencyAndBandwidthAreThoseOfTheCopies) {
  const Link link = {.from = "cpu:0", .to = "cpu:1"};
  const std::vector<CopySeconds> copies = {
      {1000, 1e-6}, {100'000, 11e-6}, {1'000'000, 101e-6}};
  const absl::StatusOr<MeasuredLink> fit = FitLink(link, copies);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->latency, 1e-6);
  EXPECT_NEAR(fit->bandwidth, 1e10, 1);
  EXPECT_TRUE(absl::IsOutOfRange(
      FitLink(link, {{1000, 1e-6}, {2000, 3e-6}, {3000, 3e-6}}).status()));
}

TEST(FitCollectiveTest, ALaunchIsNoPartOfTheLatency) {
  const std::vector<TimedCollective> collectives = {
      {1000, 21e-6}, {100'000, 31e-6}, {1'000'000, 121e-6}};
  const absl::StatusOr<CollectiveFigures> fit =
      FitCollective(collectives, 1e-6);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->latency, 20e-6, 1e-12);
  EXPECT_NEAR(fit->bandwidth, 1e10, 1);
  EXPECT_EQ(FitCollective(collectives, 1e-3)->latency, 0);
  EXPECT_TRUE(absl::IsOutOfRange(
      FitCollective({{1000, 1e-6}, {2000, 3e-6}, {3000, 3e-6}}, 0).status()));
}

TEST(MeasureCollectivesTest, BothPlansHaveACollective) {
  const Machine machine = EqualCpus(2, int64_t{1} << 30);
  const Link& link = machine.links[0];
  ASSERT_TRUE(JoinsHostDevices(machine, link));
  for (const auto& measured :
       {MeasureGather(machine, link), MeasureReduce(machine, link)}) {
    // On a busy host a large one may be no slower than a small one.
    if (absl::IsOutOfRange(measured.status())) continue;
    ASSERT_TRUE(measured.ok()) << measured.status();
    EXPECT_GT(measured->bandwidth, 0);
  }
}

TEST(MeasureCollectivesTest, OnlyLinksBetweenCpusHaveRanksOfTheHost) {
  const Machine machine = CpuAndGpus(1, int64_t{1} << 30);
  EXPECT_FALSE(JoinsHostDevices(machine, machine.links[0]));
}

MeasuredNode WarmAndCold(double warm, double cold) {
  MeasuredNode node;
  node.warm = warm;
  node.cold = cold;
  return node;
}

TEST(BusyHostTest, AQuietHostHasFewSlowWarmKernelsAndWakesSoon) {
  Profile quiet;
  EXPECT_FALSE(FindBusyHost(quiet).is_busy());
  quiet.nodes.resize(40, WarmAndCold(1.4e-3, 1e-3));
  quiet.nodes.push_back(WarmAndCold(1.6e-3, 1e-3));
  quiet.wake_seconds = 3e-4;
  EXPECT_EQ(FindBusyHost(quiet).kernels, 41u);
  EXPECT_EQ(FindBusyHost(quiet).disturbed, 1u);
  EXPECT_FALSE(FindBusyHost(quiet).is_busy());
}

TEST(BusyHostTest, SlowWarmKernelsAreSigns) {
  Profile busy;
  busy.nodes.resize(38, WarmAndCold(1e-3, 2e-3));
  busy.nodes.resize(40, WarmAndCold(12.1e-3, 5.95e-3));
  EXPECT_EQ(FindBusyHost(busy).disturbed, 2u);
  EXPECT_TRUE(FindBusyHost(busy).is_busy());
}

TEST(BusyHostTest, ALateWakeUpIsASign) {
  Profile busy;
  busy.wake_seconds = 5.9e-3;
  EXPECT_TRUE(FindBusyHost(busy).is_busy());
}

// Only steps were measured.
TEST(BusyHostTest, KernelsWithoutBothTimesDoNotCount) {
  Profile learned;
  learned.nodes.resize(1);
  learned.nodes[0].in_steps = SecondsInSteps{.seconds = 1, .steps = 1};
  EXPECT_EQ(FindBusyHost(learned).kernels, 0u);
}

TEST(MeasureMachineTest, ADeviceThatIsNotHereIsReportedOnce) {
  Machine machine = EqualCpus(3, int64_t{1} << 30);
  for (int i : {1, 2}) machine.devices[i].traits.threads = 4096;
  const absl::StatusOr<MachineMeasurements> measured =
      MeasureMachine(machine, {}, Profile(), {.seconds = 5});
  ASSERT_TRUE(measured.ok()) << measured.status();
  ASSERT_EQ(measured->skipped.size(), 2u);
  EXPECT_TRUE(absl::StartsWith(measured->skipped[0],
                               "cpu:1: found 4096 threads; expected"))
      << measured->skipped[0];
  EXPECT_EQ(measured->skipped[1], "links of devices that are not here");
  EXPECT_TRUE(measured->profile.links.empty());
  EXPECT_EQ(measured->links_left, 0);
}

TEST(MeasureMachineTest, ATinyBudgetMeasuresWhatItReaches) {
  const Machine machine = DetectHost({.gpus = false});
  std::vector<Module> models;
  models.push_back(*TwoLayerPerceptron());
  int reports = 0;
  const absl::StatusOr<MachineMeasurements> measured = MeasureMachine(
      machine, models, Profile(),
      {.seconds = 5, .progress = [&](absl::string_view) { ++reports; }});
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_GT(reports, 0);
  EXPECT_EQ(measured->profile.host, ThisProfileHost());
  EXPECT_GT(measured->profile.wake_seconds.value_or(0), 0);
  EXPECT_GT(measured->profile.cache_bytes.value_or(0), 0);
  for (const MeasuredNode& node : measured->profile.nodes) {
    EXPECT_GT(node.warm.value_or(0), 0);
    EXPECT_GT(node.cold.value_or(0), 0);
  }
  EXPECT_GT(measured->profile.nodes.size() + measured->kernels_left +
                measured->skipped.size(),
            0u);
  Machine profiled = machine;
  EXPECT_TRUE(UseProfile(measured->profile, "p", profiled).ok());
}

// Their kernels are known only once they are compiled.
TEST(MeasureMachineTest, ModelsWithoutTimeAreLeft) {
  std::vector<Module> models;
  models.push_back(*TwoLayerPerceptron());
  models.push_back(*TwoLayerPerceptron());
  const absl::StatusOr<MachineMeasurements> measured = MeasureMachine(
      DetectHost({.gpus = false}), models, Profile(), {.seconds = 1e-9});
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_TRUE(measured->profile.nodes.empty());
  EXPECT_EQ(measured->models_left, 2);
  EXPECT_EQ(measured->kernels_left, 0);
}

TEST(MeasureMachineTest, LinksThatAreNotKnownAreMeasuredFirst) {
  const Machine machine = EqualCpus(3, int64_t{1} << 30);
  Profile known;
  known.links = {
      {.from = "cpu:1", .to = "cpu:0", .bandwidth = 1e9, .latency = 1e-6}};
  std::vector<std::string> reports;
  const absl::StatusOr<MachineMeasurements> measured =
      MeasureMachine(machine, {}, known,
                     {.seconds = 5, .progress = [&](absl::string_view what) {
                        reports.emplace_back(what);
                      }});
  ASSERT_TRUE(measured.ok()) << measured.status();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0], "link cpu:0 - cpu:2");
  EXPECT_FALSE(measured->profile.wake_seconds.has_value());
}

TEST(MeasureMachineTest, AnEmptyBudgetIsRefused) {
  EXPECT_EQ(MeasureMachine(OneCpu(), {}, Profile(), {.seconds = 0})
                .status()
                .message(),
            "time-budget: found 0 seconds; expected more than 0");
}

TEST(MeasureMachineTest, AMachineThatIsNotHereIsRefused) {
  Machine machine = OneCpu();
  machine.devices[0].traits.threads = 4096;
  const absl::Status status =
      MeasureMachine(machine, {}, Profile(), {.seconds = 1}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "found 4096 threads"))
      << status;
}

}  // namespace
}  // namespace partita
