// Each harmful fault in the calls of the CUDA backend is reported
// (docs/internals/software_gpu.md). Prints a table. PARTITA_SEED chooses a
// sample; PARTITA_FULL=1 takes all.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "graph/builder/dropout.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/builder/update_rule.h"
#include "graph/gpu_split.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "tests/gpu/emulated_machine.h"
#include "tests/gpu/sown_faults/plan_run.h"

namespace partita {
namespace {

using emulated_gpu::Order;
using ::testing::IsEmpty;

constexpr int64_t kGpuMemory = int64_t{1} << 26;
// Of each kind of call and of wrong, in ./test: with graphs, and without.
constexpr size_t kSample = 2;
constexpr size_t kSampleOneByOne = 1;

bool IsFull() { return std::getenv("PARTITA_FULL") != nullptr; }

unsigned Seed() {
  const char* const text = std::getenv("PARTITA_SEED");
  return text == nullptr ? 1u : static_cast<unsigned>(std::atoi(text));
}

// ---- What is run.

std::shared_ptr<const Plan> CompiledFor(int gpus, absl::StatusOr<Module> module,
                                        const CompileOptions& options) {
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  auto compiled =
      Compile(*std::move(module), NewGpus(gpus, kGpuMemory), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  return std::make_shared<const Plan>(std::move(compiled->plan));
}

std::shared_ptr<const Plan> OneGpu() { return MatmulSoftmaxPlan(1).plan; }
std::shared_ptr<const Plan> TwoGpus() { return MatmulSoftmaxPlan(2).plan; }
std::shared_ptr<const Plan> Messages() { return MatmulSoftmaxPlan(2, 1).plan; }
std::shared_ptr<const Plan> CpuAndGpu() { return CpuAndGpuPlan().plan; }

// Two steps may overlap.
std::shared_ptr<const Plan> InFlight(PtxPlan plan) {
  plan.plan->entries[0].depth = 2;
  return plan.plan;
}
std::shared_ptr<const Plan> MessagesInFlight() {
  return InFlight(MatmulSoftmaxPlan(2, 1));
}
std::shared_ptr<const Plan> CpuAndGpuInFlight() {
  return InFlight(CpuAndGpuPlan());
}

std::shared_ptr<const Plan> PipelineOfDepth(int depth) {
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = 2;
  options.depth = depth;
  return CompiledFor(
      2, SmallConvNet({.batch = 2, .image = 6, .channels = 2, .classes = 3}),
      options);
}
std::shared_ptr<const Plan> Pipeline() { return PipelineOfDepth(1); }
std::shared_ptr<const Plan> PipelineInFlight() { return PipelineOfDepth(2); }

HostTensor Weights(Shape dims, uint64_t seed) {
  return RandomTensor({DType::kF32, std::move(dims), {}}, seed, -1, 1);
}

// Two layers, forward, backward and the update.
absl::StatusOr<Module> TrainingStep() {
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Tensor hidden = Relu(MatMul(b.Input("x", DType::kF32, {4, 6}),
                                    b.Variable("w1", Weights({6, 8}, 1))) +
                             b.Variable("b1", Weights({8}, 2)));
  const Tensor y = MatMul(hidden, b.Variable("w2", Weights({8, 3}, 3)));
  const Tensor loss = MseLoss(y, b.Input("target", DType::kF32, {4, 3}));
  const absl::Status built =
      Minimize(b, loss, step, {.optimizer = {.momentum = 0.5}});
  if (!built.ok()) return built;
  b.Output("loss", loss);
  return b.Build();
}

std::shared_ptr<const Plan> Training() {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  return CompiledFor(1, TrainingStep(), options);
}

std::shared_ptr<const Plan> TrainingInStages() {
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = 2;
  return CompiledFor(2, TrainingStep(), options);
}

struct Case {
  const char* name;
  std::shared_ptr<const Plan> (*plan)();
  int gpus;
  // The memory of a CPU beside the GPUs is pageable. A copy to it that is done
  // when its call returns needs no order; not every driver makes it so.
  bool fetches_wait = true;
  // Without access to peers, a kernel that finds its memory on the other GPU is
  // reported: its context was not current when the memory was allocated.
  bool are_peers = false;
  GpuSplit split;
  int in_flight = 1;  // steps
  int sessions = 1;
  bool traces = false;
};
std::ostream& operator<<(std::ostream& out, const Case& tested) {
  return out << tested.name;
}

// Commands of GPUs in graphs, where they may be, or each issued by itself.
enum class Launched { kAsGraphs, kOneByOne };

constexpr Case kCases[] = {
    {.name = "OneGpu", .plan = OneGpu, .gpus = 1},
    {.name = "TwoGpus", .plan = TwoGpus, .gpus = 2},
    {.name = "TwoShares", .plan = TwoGpus, .gpus = 1, .split = {.shares = 2}},
    {.name = "TwoPeers", .plan = TwoGpus, .gpus = 2, .are_peers = true},
    {.name = "Messages", .plan = Messages, .gpus = 2},
    {.name = "CpuAndGpu", .plan = CpuAndGpu, .gpus = 1, .fetches_wait = false},
    {.name = "Pipeline", .plan = Pipeline, .gpus = 2},
    {.name = "Training", .plan = Training, .gpus = 1},
    {.name = "TrainingInStages", .plan = TrainingInStages, .gpus = 2},
    {.name = "MessagesInFlight",
     .plan = MessagesInFlight,
     .gpus = 2,
     .in_flight = 2},
    {.name = "CpuAndGpuInFlight",
     .plan = CpuAndGpuInFlight,
     .gpus = 1,
     .fetches_wait = false,
     .in_flight = 2},
    {.name = "PipelineInFlight",
     .plan = PipelineInFlight,
     .gpus = 2,
     .in_flight = 2},
    {.name = "TwoSessions", .plan = TwoGpus, .gpus = 2, .sessions = 2},
    {.name = "Traced", .plan = TwoGpus, .gpus = 2, .traces = true},
};

Workload WorkloadOf(const Case& tested, Launched launched) {
  Workload workload;
  workload.plan = tested.plan();
  workload.launches_graphs = launched == Launched::kAsGraphs;
  if (workload.plan == nullptr) return workload;
  workload.machine = {.gpus = tested.gpus, .bytes_per_gpu = 2 * kGpuMemory};
  if (tested.are_peers) {
    workload.machine.peers = emulated_gpu::AllPeers(tested.gpus);
  }
  workload.machine.readings.pageable_fetches_wait = tested.fetches_wait;
  workload.split = tested.split;
  workload.needed = NeededOrders(*workload.plan, 0);
  workload.in_flight = tested.in_flight;
  workload.sessions = tested.sessions;
  workload.traces = tested.traces;
  // A slot is used again; a traced step has made its graphs.
  if (tested.in_flight > 1 || tested.traces) workload.steps = 3;
  return workload;
}

// ---- What is sown.

// Of the faults that calls of a sound run may have, all or some.
std::vector<SownFault> DrawnFaults(const PlanRun& sound) {
  const size_t sample = sound.graphs > 0 ? kSample : kSampleOneByOne;
  std::mt19937 random(Seed());
  std::vector<SownFault> drawn;
  for (int k = 0; k < kCallKinds; ++k) {
    const auto kind = static_cast<CallKind>(k);
    for (const Wrong wrong : WrongsOf(kind)) {
      std::vector<SownFault> faults;
      for (int64_t i = 0; i < sound.calls[k]; ++i) {
        faults.push_back({kind, i, wrong});
      }
      std::sample(faults.begin(), faults.end(), std::back_inserter(drawn),
                  IsFull() ? faults.size() : sample, random);
    }
  }
  return drawn;
}

// ---- How it is judged.

enum class Verdict {
  kNotSown,   // the run has no such call, or that has no neighbour
  kHarmless,  // all orders hold, all is given back, the bits are equal
  kFinding,   // the software GPU says so, whatever the judge says
  kError,     // a call returned an error
  kBits,      // harmful, and seen by values: wrong bits in every order
  kMissed,    // harmful, and nobody says so
};
constexpr int kVerdicts = 6;

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// True if all that is wrong are accesses of the host that nothing orders. The
// software GPU does not see them; what they read too early is poison.
bool IsOfHost(const PlanRun& run) {
  return run.kept.empty() && !run.violations.empty() &&
         std::all_of(run.violations.begin(), run.violations.end(),
                     [](const std::string& violation) {
                       return Contains(violation, "work of the host") ||
                              Contains(violation, "the step ends");
                     });
}

// True if all that is wrong is that the step ends before its work.
bool OnlyEndsEarly(const PlanRun& run) {
  return run.kept.empty() &&
         std::all_of(run.violations.begin(), run.violations.end(),
                     [](const std::string& violation) {
                       return Contains(violation, "the step ends");
                     });
}

class Judge {
 public:
  Judge(const Workload& workload, const PlanRun& sound)
      : workload_(workload), sound_(sound) {}

  Verdict Of(const SownFault& fault) const {
    const PlanRun run = RunPlan(workload_, fault);
    if (!run.is_sown) return Verdict::kNotSown;
    if (!run.findings.empty()) return Verdict::kFinding;
    if (!run.status.ok()) return Verdict::kError;
    const bool same = HaveEqualBits(run.values, sound_.values);
    if (same && run.violations.empty() && run.kept.empty()) {
      return Verdict::kHarmless;
    }
    // What the host reads too early is poison in every order: it read nothing
    // of that work before it waited.
    if (same && OnlyEndsEarly(run) && OrdersThatDiffer(fault) == 0) {
      return Verdict::kHarmless;
    }
    if ((ChangesWork(fault) || IsOfHost(run)) &&
        OrdersThatDiffer(fault) == std::size(kOrders)) {
      return Verdict::kBits;
    }
    ADD_FAILURE() << TextOf(fault) << ": found no report; expected one: "
                  << (same ? "equal" : "other") << " bits, in "
                  << OrdersThatDiffer(fault) << " of " << std::size(kOrders)
                  << " orders\n"
                  << absl::StrJoin(run.violations, "\n")
                  << absl::StrJoin(run.kept, "\n");
    return Verdict::kMissed;
  }

 private:
  static constexpr Order kOrders[] = {Order::kRandom, Order::kOldestStreamFirst,
                                      Order::kYoungestStreamFirst,
                                      Order::kLateWaits, Order::kAtOnce};

  // In how many of the orders the bits are wrong.
  size_t OrdersThatDiffer(const SownFault& fault) const {
    return std::count_if(
        std::begin(kOrders), std::end(kOrders), [&](Order order) {
          Workload workload = workload_;
          workload.machine.order = order;
          return !HaveEqualBits(RunPlan(workload, fault).values, sound_.values);
        });
  }

  const Workload& workload_;
  const PlanRun& sound_;
};

using Row = std::array<int, kVerdicts>;

void PrintTable(const std::map<std::string, Row>& rows) {
  std::printf(
      "| fault | sown | harmless | a finding | an error | wrong bits in every "
      "order | missed |\n|---|---|---|---|---|---|---|\n");
  for (const auto& [name, row] : rows) {
    std::printf("| %s | %d | %d | %d | %d | %d | %d |\n", name.c_str(),
                std::accumulate(row.begin() + 1, row.end(), 0), row[1], row[2],
                row[3], row[4], row[5]);
  }
}

class SownFaults : public testing::TestWithParam<std::tuple<Case, Launched>> {
 protected:
  static Workload TheWorkload() {
    return WorkloadOf(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

std::string NameOfTest(const std::tuple<Case, Launched>& tested) {
  return absl::StrCat(
      std::get<0>(tested).name,
      std::get<1>(tested) == Launched::kAsGraphs ? "AsGraphs" : "OneByOne");
}

// Nobody says anything of a sound backend, and the bits are equal in every
// order. (That they are the reference's, the tests of tests/gpu show.)
TEST_P(SownFaults, ASoundRunIsFoundSound) {
  const Workload workload = TheWorkload();
  ASSERT_NE(workload.plan, nullptr);
  EXPECT_FALSE(workload.needed.empty());
  const PlanRun first = RunPlan(workload, std::nullopt);
  EXPECT_EQ(first.graphs > 0, workload.launches_graphs);
  // The driver has the order that the judge counts on.
  EXPECT_TRUE(first.proof.ok()) << first.proof;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Workload ordered = workload;
    ordered.machine.seed = seed;
    ordered.machine.order = OrderOf(seed);
    const PlanRun run = RunPlan(ordered, std::nullopt);
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_THAT(run.findings, IsEmpty());
    EXPECT_THAT(run.violations, IsEmpty());
    EXPECT_THAT(run.kept, IsEmpty());
    EXPECT_TRUE(HaveEqualBits(run.values, first.values));
  }
}

TEST_P(SownFaults, EachHarmfulOneIsReported) {
  const Workload workload = TheWorkload();
  ASSERT_NE(workload.plan, nullptr);
  const PlanRun sound = RunPlan(workload, std::nullopt);
  ASSERT_TRUE(sound.status.ok()) << sound.status;
  const Judge judge(workload, sound);
  std::map<std::string, Row> rows;
  int harmful = 0;
  for (const SownFault& fault : DrawnFaults(sound)) {
    const Verdict verdict = judge.Of(fault);
    ++rows[absl::StrCat(NameOf(fault.kind), " ", NameOf(fault.wrong))]
          [static_cast<int>(verdict)];
    harmful += verdict >= Verdict::kFinding ? 1 : 0;
  }
  std::printf("%s, PARTITA_SEED=%u\n", NameOfTest(GetParam()).c_str(), Seed());
  PrintTable(rows);
  EXPECT_GT(harmful, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, SownFaults,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(Launched::kAsGraphs, Launched::kOneByOne)),
    [](const auto& tested) { return NameOfTest(tested.param); });

}  // namespace
}  // namespace partita
