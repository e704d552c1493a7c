// Random graphs with every strategy for random machines: plans are proved,
// reproducible, and correct under every interleaving.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan_text.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"
#include "tools/partita/compare.h"

namespace partita {
namespace {

constexpr int kChaosSeeds = 3;
constexpr int kNodesOfBlock = 3;

uint64_t SeedFromEnvironment() {
  const char* text = std::getenv("PARTITA_SEED");
  uint64_t seed = 1;
  if (text != nullptr && !absl::SimpleAtoi(text, &seed)) {
    ADD_FAILURE() << "PARTITA_SEED: found " << text << "; expected a number";
  }
  return seed;
}

// One graph and one machine, determined by the seed.
class Sample {
 public:
  explicit Sample(uint64_t seed) : bits_(seed), seed_(seed) {
    // Every other graph has discontinuous values, which depend on rounding.
    discrete_ = Below(2) == 0;
    module_ = RandomGraph(seed, {.steps = 2 + static_cast<int>(Below(30)),
                                 .discrete = discrete_});
    NameBlocks();
    MakeMachine();
    inputs_ = RandomInputs(module_.main(), seed);
  }

  const Module& module() const { return module_; }
  const Machine& machine() const { return machine_; }
  const std::vector<HostTensor>& inputs() const { return inputs_; }
  bool discrete() const { return discrete_; }
  uint64_t seed() const { return seed_; }

  CompileOptions Options(const std::string& strategy) {
    CompileOptions options;
    options.strategy = strategy;
    options.depth = 1 + static_cast<int>(Below(2));
    if (strategy == "single") options.planner.device = RandomDevice();
    if (strategy == "pinned") AddPins(options.pins);
    if (strategy == "search") {
      const Goal goals[] = {Goal::kLatency, Goal::kThroughput, Goal::kMemory};
      options.planner.objective = ObjectiveChoice{goals[Below(3)]};
    }
    return options;
  }

 private:
  uint64_t Below(uint64_t limit) { return bits_() % limit; }

  const std::string& RandomDevice() {
    return machine_.devices[Below(machine_.devices.size())].traits.name;
  }

  // Names for pins.
  void NameBlocks() {
    int index = 0;
    for (const OpView& op : module_.main().ops()) {
      module_.main().node(op.id()).scope =
          absl::StrCat("block", index++ / kNodesOfBlock);
    }
  }

  void MakeMachine() {
    machine_ = EqualCpus(1 + static_cast<int>(Below(4)), int64_t{1} << 28);
    for (MachineDevice& device : machine_.devices) {
      // From the rate of a CPU up to that of a GPU.
      const double rate = std::exp2(static_cast<double>(Below(8)));
      device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e9 * rate;
      device.traits.memory_bandwidth = 1e8 * rate;
      device.traits.launch_seconds = 1e-9 * static_cast<double>(Below(1000));
    }
    for (Link& link : machine_.links) {
      link.bandwidth = 1e8 * std::exp2(static_cast<double>(Below(8)));
      link.latency = 1e-8 * static_cast<double>(Below(100));
      link.duplex = Below(2) == 0;
      if (Below(3) == 0) link.bus = "shared";
    }
  }

  void AddPins(std::vector<Pin>& pins) {
    std::set<std::string> blocks;
    for (const OpView& op : module_.main().ops()) {
      blocks.insert(op.node().scope);
    }
    for (const std::string& block : blocks) {
      // The planner places the other blocks.
      if (Below(3) > 0) pins.push_back({block, {RandomDevice()}});
    }
  }

  std::mt19937_64 bits_;
  const uint64_t seed_;
  bool discrete_ = false;
  Module module_;
  Machine machine_;
  std::vector<HostTensor> inputs_;
};

// Folding and kernels change the order of roundings. The tolerance fits a chain
// of f32 operations on values of this size.
absl::Status CloseToEval(const std::vector<HostTensor>& outputs,
                         const Sample& sample) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<HostTensor> expected,
                           Evaluate(sample.module().main(), sample.inputs()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double atol = 2e-5 * std::max(1.0, LargestMagnitude(expected[i]));
    PARTITA_RETURN_IF_ERROR(Close(absl::MakeSpan(&outputs[i], 1),
                                  absl::MakeSpan(&expected[i], 1), 0, atol));
  }
  return absl::OkStatus();
}

absl::Status RunAll(std::shared_ptr<const Plan> plan, const Sample& sample) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           VirtualSession(std::move(plan), sample.inputs()));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<HostTensor> reference,
                           session->RunReference());
  PARTITA_ASSIGN_OR_RETURN(const std::vector<HostTensor> outputs,
                           StepOutputs(*session));
  PARTITA_RETURN_IF_ERROR(SameBits(outputs, reference));
  for (uint64_t chaos = 0; chaos < kChaosSeeds; ++chaos) {
    PARTITA_ASSIGN_OR_RETURN(
        const std::vector<HostTensor> again,
        StepOutputs(*session, {.chaos_seed = sample.seed() + chaos}));
    PARTITA_RETURN_IF_ERROR(SameBits(again, reference));
  }
  return sample.discrete() ? absl::OkStatus() : CloseToEval(outputs, sample);
}

struct Totals {
  int plans = 0;
  int spanning = 0;
  int copies = 0;
};

// A fused node has the scope of one of its nodes.
absl::Status PinsHold(const Plan& plan, const std::vector<Pin>& pins) {
  for (const OpView& op : plan.module.main().ops()) {
    if (op.op().traits.placed_only || op.num_operands() == 0) continue;
    for (const Pin& pin : pins) {
      if (op.node().scope != pin.pattern) continue;
      const auto& devices = op.node().placement.devices;
      if (devices.size() == 1 && devices[0] == pin.devices[0]) continue;
      return absl::InternalError(
          absl::StrCat("found ", op.ToString(), " on ", devices[0],
                       "; expected ", pin.devices[0], ", where it is pinned"));
    }
  }
  return absl::OkStatus();
}

absl::Status TryStrategy(const std::string& strategy, Sample& sample,
                         Totals& totals) {
  const CompileOptions options = sample.Options(strategy);
  PARTITA_ASSIGN_OR_RETURN(
      Compiled compiled,
      Compile(sample.module().Clone(), sample.machine(), options));
  PARTITA_ASSIGN_OR_RETURN(
      const Compiled again,
      Compile(sample.module().Clone(), sample.machine(), options));
  if (PrintPlan(compiled.plan, {.reasons = true}) !=
      PrintPlan(again.plan, {.reasons = true})) {
    return absl::InternalError("found another plan at the second time");
  }
  PARTITA_RETURN_IF_ERROR(PinsHold(compiled.plan, options.pins));
  ++totals.plans;
  totals.spanning += compiled.report.entries[0].copies > 0;
  totals.copies += compiled.report.entries[0].copies;
  return RunAll(std::make_shared<const Plan>(std::move(compiled.plan)), sample);
}

TEST(RandomGraphs, EveryStrategyIsProvedRightAndRepeatable) {
  const uint64_t base = SeedFromEnvironment();
  const int count = std::getenv("PARTITA_FULL") != nullptr ? 1000 : 40;
  Totals totals;
  for (int i = 0; i < count; ++i) {
    Sample sample(base * 1000000 + i);
    for (const Planner& planner : Planners()) {
      const absl::Status status = TryStrategy(planner.name, sample, totals);
      ASSERT_TRUE(status.ok())
          << "PARTITA_SEED=" << base << ", graph " << i << " ("
          << sample.machine().devices.size() << " devices), strategy "
          << planner.name << ": " << status << "\n"
          << PrintModule(sample.module());
    }
  }
  std::cout << "random graphs: " << count << " graphs, " << totals.plans
            << " plans, " << totals.spanning << " of them over several "
            << "devices with " << totals.copies
            << " copies, all proved and right (PARTITA_SEED=" << base << ")\n";
  EXPECT_GT(totals.spanning, count / 4);
}

}  // namespace
}  // namespace partita
