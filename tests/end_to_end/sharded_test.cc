// Nodes sharded over devices by pins, from compilation to execution: the bits
// of the plan's reference, and the values of one device.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/ops.h"
#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "placement/partition/sharded_placement.h"
#include "runtime/plan/collective.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"
#include "tools/partita/compare.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 30;

std::vector<std::string> Cpus(int devices) {
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back(absl::StrCat("cpu:", d));
  return names;
}

int ShardedNodes(const Plan& plan) {
  int sharded = 0;
  for (const OpView& op : plan.module.main().ops()) {
    sharded += op.node().kernel.has_value() && IsSharded(op);
  }
  return sharded;
}

// The number of placed nodes that are collectives of this kind, whether they
// are lowered to a collective or to copies.
int NodesOf(const Plan& plan, CollectiveKind kind) {
  return absl::c_count_if(plan.module.main().ops(), [kind](const OpView& op) {
    return CollectiveOf(op) == kind;
  });
}

// Shards every node along the batch, like --pin '*=cpu:0,cpu:1/split0'.
void ExpectDataParallel(const Module& module, int devices, int chaos_seeds) {
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), 1);
  absl::StatusOr<Compiled> alone =
      Compile(module.Clone(), EqualCpus(1, kRoom), {.strategy = "single"});
  ASSERT_TRUE(alone.ok()) << alone.status();
  const std::vector<std::string> fallbacks = alone->report.fallbacks.nodes;
  const absl::StatusOr<VirtualRun> expected =
      RunVirtually(std::move(alone->plan), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {{"*", Cpus(devices), 0}};
  absl::StatusOr<Compiled> compiled =
      Compile(module.Clone(), EqualCpus(devices, kRoom), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_GE(ShardedNodes(compiled->plan), 3);
  EXPECT_LE(compiled->report.entries[0].bound_seconds,
            compiled->report.entries[0].step_seconds);
  EXPECT_EQ(compiled->report.fallbacks.nodes, fallbacks);
  const auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
  const auto session = VirtualSession(plan, inputs);
  ASSERT_TRUE(session.ok()) << session.status();
  const auto reference = (*session)->RunReference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (int seed = -1; seed < chaos_seeds; ++seed) {
    RunOptions run;
    if (seed >= 0) run.chaos_seed = seed;
    const auto outputs = StepOutputs(**session, run);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(SameBits(*outputs, *reference), absl::OkStatus()) << seed;
    EXPECT_EQ(Close(*outputs, expected->outputs, 1e-4, 1e-6), absl::OkStatus());
  }
}

TEST(DataParallel, ResNet50OverTwoAndThreeDevices) {
  for (const auto& [batch, devices] : {std::pair(4, 2), std::pair(5, 3)}) {
    SCOPED_TRACE(absl::StrCat("batch ", batch, " over ", devices));
    const auto module = ResNet50({.batch = batch, .image = 32, .classes = 10});
    ASSERT_TRUE(module.ok()) << module.status();
    ExpectDataParallel(*module, devices, 1);
  }
}

// A value that is broadcast over a batch of two has the extents of a replica's
// shard, but another layout.
TEST(DataParallel, AShardHasTheExtentsOfTheBroadcastValue) {
  GraphBuilder b("shifted");
  const Tensor x = b.Input("x", DType::kF32, {2, 32, 4, 4});
  const Tensor shift = Exp(b.Input("shift", DType::kF32, {1, 32, 4, 4}));
  const Tensor w = b.Input("w", DType::kF32, {32, 32, 3, 3});
  const ConvOptions padded = {.pads_before = {1, 1}, .pads_after = {1, 1}};
  const Tensor y = Relu(Conv(x, w, padded) + shift);
  b.Output("y", Conv(y, w, padded));
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  ExpectDataParallel(*module, 2, 20);
}

TEST(DataParallel, SmallNetworksUnderChaos) {
  const auto conv_net = SmallConvNet({.batch = 5});
  ASSERT_TRUE(conv_net.ok());
  const auto perceptron =
      TwoLayerPerceptron({.batch = 7, .inputs = 96, .hidden = 64});
  ASSERT_TRUE(perceptron.ok());
  for (const int devices : {2, 3, 4}) {
    ExpectDataParallel(*conv_net, devices, 20);
    ExpectDataParallel(*perceptron, devices, 20);
  }
}

// The devices from which outputs are fetched.
std::set<int> FetchedFrom(const Plan& plan) {
  std::set<int> devices;
  const Entry& entry = plan.entries[0];
  const auto commands = Expand(entry);
  EXPECT_TRUE(commands.ok()) << commands.status();
  for (const Command& command : *commands) {
    if (command.kind != Command::Kind::kFetch) continue;
    devices.insert(entry.buffers[command.operands[0].index].device.index);
  }
  return devices;
}

TEST(DataParallel, OutputsAreGatheredOnTheChosenDevice) {
  const auto module = SmallConvNet({.batch = 5});
  ASSERT_TRUE(module.ok());
  for (int device = 0; device < 3; ++device) {
    CompileOptions options;
    options.strategy = "data";
    options.output_device = absl::StrCat("cpu:", device);
    absl::StatusOr<Compiled> compiled =
        Compile(module->Clone(), EqualCpus(3, kRoom), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_GE(ShardedNodes(compiled->plan), 3);
    EXPECT_EQ(FetchedFrom(compiled->plan), std::set<int>{device});
    const auto run = RunVirtually(std::move(compiled->plan),
                                  RandomInputs(module->main(), 1));
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
  }
}

// The mean of x w, and the old value of w, which becomes w - mean.
Module UpdatedByMean() {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {5, 3});
  const Tensor w = b.Variable("w", HostTensor::Of<float>({3}, {1, 2, 3}));
  const Tensor mean = ReduceMean(x * w, {0, 1}, /*keep_dims=*/false);
  b.Output("mean", mean);
  b.Output("w", w);
  b.Update("w", w - mean);
  return *b.Build();
}

// The update must not overwrite w before it is read.
TEST(DataParallel, OutputsOfReplicasAreReadOnTheChosenDevice) {
  const Module module = UpdatedByMean();
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), 1);
  for (int device = 0; device < 3; ++device) {
    CompileOptions options;
    options.strategy = "data";
    options.output_device = absl::StrCat("cpu:", device);
    absl::StatusOr<Compiled> compiled =
        Compile(module.Clone(), EqualCpus(3, kRoom), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(FetchedFrom(compiled->plan), std::set<int>{device});
    const auto session = VirtualSession(
        std::make_shared<const Plan>(std::move(compiled->plan)), inputs);
    ASSERT_TRUE(session.ok()) << session.status();
    for (int step = 0; step < 10; ++step) {
      // The outputs, and after them the new w.
      const auto reference = (*session)->RunReference();
      ASSERT_TRUE(reference.ok()) << reference.status();
      RunOptions run;
      run.chaos_seed = step;
      const auto found = StepOutputs(**session, run);
      ASSERT_TRUE(found.ok()) << found.status();
      const auto replicas = (*session)->ReadReplicas("w");
      ASSERT_TRUE(replicas.ok()) << replicas.status();
      EXPECT_EQ(replicas->size(), 3u);
      for (const HostTensor& w : *replicas) {
        EXPECT_EQ(SameBits({&w, 1}, {&reference->back(), 1}), absl::OkStatus());
      }
      EXPECT_EQ(SameBits(*found, absl::MakeConstSpan(*reference).first(2)),
                absl::OkStatus());
    }
  }
}

TEST(DataParallel, MoreDevicesThanRowsAreRefused) {
  const auto module = SmallConvNet({.batch = 2});
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {{"*", Cpus(3), 0}};
  const auto compiled = Compile(module->Clone(), EqualCpus(3, kRoom), options);
  EXPECT_NE(compiled.status().message().find("2 shards"),
            absl::string_view::npos)
      << compiled.status();
}

// A split along an inner dimension has a block for each row: as many as a
// transformer's tokens, or an image's lines in all channels.
TEST(InnerDimensions, ManyRowsAreProved) {
  for (const int64_t rows : {4096, 4097, 100000}) {
    SCOPED_TRACE(absl::StrCat(rows, " rows"));
    GraphBuilder b("f");
    const Tensor x = b.Input("x", DType::kF32, {rows, 12});
    Tensor h;
    {
      const GraphBuilder::Scope scope(b, "columns");
      h = Exp(Neg(x));
    }
    b.Output("y", Neg(h));
    const auto module = b.Build();
    ASSERT_TRUE(module.ok()) << module.status();
    CompileOptions options;
    options.strategy = "pinned";
    options.pins = {{"columns", Cpus(3), 1}};
    absl::StatusOr<Compiled> compiled =
        Compile(module->Clone(), EqualCpus(3, kRoom), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const std::vector<HostTensor> inputs = RandomInputs(module->main(), 1);
    const auto run = RunVirtually(std::move(compiled->plan), inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
  }
}

// A reshape keeps the three rows of a sample together; nodes that read the rows
// by themselves do not.
TEST(MergedDimensions, RowsMoveBetweenDifferentShardings) {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {7, 3, 4});
  Tensor y;
  {
    const GraphBuilder::Scope scope(b, "rows");
    y = Reshape(Exp(Reshape(x, {21, 4})), {7, 3, 4});
  }
  b.Output("y", Neg(y));
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<HostTensor> inputs = RandomInputs(module->main(), 1);
  const auto expected = Evaluate(module->main(), inputs);
  ASSERT_TRUE(expected.ok());
  for (int devices : {2, 3, 5}) {
    CompileOptions options;
    options.strategy = "pinned";
    options.pins = {{"rows", Cpus(devices), 0}};
    absl::StatusOr<Compiled> compiled =
        Compile(module->Clone(), EqualCpus(devices, kRoom), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(NodesOf(compiled->plan, CollectiveKind::kAllToAll), 2);
    const auto run = RunVirtually(std::move(compiled->plan), inputs);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
    EXPECT_EQ(Close(run->outputs, *expected, 0, 1e-5), absl::OkStatus());
  }
}

// Random pins along dimensions that can be sharded; each node has its own
// devices.
class RandomPins {
 public:
  RandomPins(const Module& module, int devices, uint64_t seed)
      : bits_(seed), devices_(devices) {
    for (const OpView& op : module.main().ops()) {
      if (op.num_results() == 1 && !op.result(0).name().empty()) TryPin(op);
    }
  }
  const std::vector<Pin>& pins() const { return pins_; }

 private:
  void TryPin(const OpView& op) {
    if (bits_() % 6 == 0) return;
    Pin pin{op.result(0).name(), Cpus(devices_), -1};
    std::shuffle(pin.devices.begin(), pin.devices.end(), bits_);
    pin.devices.resize(2 + bits_() % (devices_ - 1));
    const int rank = op.result_type(0).rank();
    // The first dimension that can be sharded, from a random one on.
    const int first = bits_() % (rank + 1);
    for (int i = 0; i < rank; ++i) {
      pin.dim = (first + i) % rank;
      if (CanBeSharded(op, pin)) break;
      pin.dim = -1;
    }
    pins_.push_back(std::move(pin));
  }

  static bool CanBeSharded(const OpView& op, const Pin& pin) {
    const Sharding split = {.kind = Sharding::Kind::kSplit, .dim = pin.dim};
    Placement placement;
    placement.devices.assign(pin.devices.begin(), pin.devices.end());
    placement.results = {split};
    return ShardNode(op, std::move(placement)).ok();
  }

  std::mt19937_64 bits_;
  const int devices_;
  std::vector<Pin> pins_;
};

TEST(RandomShardings, AreProvedAndEqualTheirReference) {
  int sharded = 0, plans = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Module module =
        RandomGraph(seed, {.steps = 8 + static_cast<int>(seed % 30)});
    const int devices = 2 + static_cast<int>(seed % 3);
    CompileOptions options;
    options.strategy = "pinned";
    options.depth = 1 + static_cast<int>(seed % 2);
    options.pins = RandomPins(module, devices, seed).pins();
    if (options.pins.empty()) continue;
    absl::StatusOr<Compiled> compiled =
        Compile(module.Clone(), EqualCpus(devices, kRoom), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status() << PrintModule(module);
    sharded += ShardedNodes(compiled->plan);
    ++plans;
    const std::vector<HostTensor> inputs = RandomInputs(module.main(), seed);
    const auto run = RunVirtually(std::move(compiled->plan), inputs);
    ASSERT_TRUE(run.ok()) << run.status() << PrintModule(module);
    EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
    const auto expected = Evaluate(module.main(), inputs);
    ASSERT_TRUE(expected.ok());
    for (size_t i = 0; i < expected->size(); ++i) {
      const double atol =
          2e-5 * std::max(1.0, LargestMagnitude((*expected)[i]));
      EXPECT_EQ(Close(absl::MakeSpan(&run->outputs[i], 1),
                      absl::MakeSpan(&(*expected)[i], 1), 0, atol),
                absl::OkStatus())
          << PrintModule(module);
    }
  }
  EXPECT_GT(plans, 40);
  std::cout << sharded << " sharded nodes in " << plans << " plans\n";
  EXPECT_GT(sharded, 100);
}

}  // namespace
}  // namespace partita
