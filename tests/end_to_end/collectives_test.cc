// Broadcasts and other collectives, from compilation to execution.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/ops.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/collective.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 30;
constexpr int kChaosSeeds = 20;

// The links of cpu:0 are one slow bus.
Machine FarFromFirst(int cpus) {
  Machine machine = EqualCpus(cpus, kRoom);
  for (Link& link : machine.links) {
    if (link.from != "cpu:0" && link.to != "cpu:0") continue;
    link.bus = "far";
    link.bandwidth /= 10;
  }
  return machine;
}

// y = x exp(w). Tests pin the product by its scope "product", sharded by rows.
Module ProductModule() {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {7, 5});
  const Tensor w = b.Input("w", DType::kF32, {5, 3});
  Tensor e, y;
  {
    const GraphBuilder::Scope scope(b, "weights");
    e = Exp(w);
  }
  {
    const GraphBuilder::Scope scope(b, "product");
    y = MatMul(x, e);
  }
  b.Output("y", y);
  return *b.Build();
}

// y = neg exp x, with rows sharded over one device set and then another.
Module ChainModule() {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {7, 5});
  Tensor h, y;
  {
    const GraphBuilder::Scope scope(b, "first");
    h = Exp(x);
  }
  {
    const GraphBuilder::Scope scope(b, "second");
    y = Neg(h);
  }
  b.Output("y", y);
  return *b.Build();
}

// y = neg of the sum of exp x over its rows.
Module SumModule() {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {7, 5});
  const Tensor sum = ReduceSum(Exp(x), {0}, /*keep_dims=*/false);
  Tensor y;
  {
    const GraphBuilder::Scope scope(b, "second");
    y = Neg(sum);
  }
  b.Output("y", y);
  return *b.Build();
}

// The number of commands of one kind of collective.
int CountParts(const Plan& plan, CollectiveKind kind) {
  const Entry& entry = plan.entries[0];
  int count = 0;
  for (const Command& command : entry.programs[0].commands) {
    if (command.kind != Command::Kind::kCollective) continue;
    count += CollectiveOf(entry.graph->view(command.instance.node)) == kind;
  }
  return count;
}

absl::StatusOr<Compiled> CompilePinned(const Module& module,
                                       const Machine& machine,
                                       std::vector<Pin> pins,
                                       const std::string& strategy = "pinned") {
  CompileOptions options;
  options.strategy = strategy;
  options.pins = std::move(pins);
  return Compile(module.Clone(), machine, options);
}

// Under any delays, the bits are those of the placed graph.
void ExpectRunsLikeReference(const Module& module, Plan plan) {
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), 1);
  const auto session =
      VirtualSession(std::make_shared<const Plan>(std::move(plan)), inputs);
  ASSERT_TRUE(session.ok()) << session.status();
  const auto reference = (*session)->RunReference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (int seed = 0; seed < kChaosSeeds; ++seed) {
    RunOptions run;
    run.chaos_seed = seed;
    const auto outputs = StepOutputs(**session, run);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(SameBits(*outputs, *reference), absl::OkStatus()) << seed;
  }
}

TEST(Collectives, AValueCrossesASlowBusOnce) {
  const Module module = ProductModule();
  const std::vector<std::vector<std::string>> sets = {
      {"cpu:0", "cpu:1", "cpu:2"},  // the root is one of them
      {"cpu:1", "cpu:2", "cpu:3"},  // the root is not one of them
      {"cpu:2", "cpu:3", "cpu:0",
       "cpu:1"}};  // the root is not the first of them
  for (const std::vector<std::string>& devices : sets) {
    absl::StatusOr<Compiled> compiled =
        CompilePinned(module, FarFromFirst(4),
                      {{"weights", {"cpu:0"}}, {"product", devices, 0}});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(CountParts(compiled->plan, CollectiveKind::kBroadcast),
              devices[0] == "cpu:1" ? 4 : static_cast<int>(devices.size()));
    ExpectRunsLikeReference(module, std::move(compiled->plan));
  }
}

// With separate links, copies reach all devices at once, without waiting for
// the slowest. A single copy is not a broadcast.
TEST(Collectives, CopiesStayWhereTheyAreBetter) {
  const Module module = ProductModule();
  absl::StatusOr<Compiled> linked = CompilePinned(
      module, EqualCpus(4, kRoom),
      {{"weights", {"cpu:0"}}, {"product", {"cpu:1", "cpu:2", "cpu:3"}, 0}});
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(CountParts(linked->plan, CollectiveKind::kBroadcast), 0);
  absl::StatusOr<Compiled> one = CompilePinned(
      module, FarFromFirst(2),
      {{"weights", {"cpu:0"}}, {"product", {"cpu:0", "cpu:1"}, 0}});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(CountParts(one->plan, CollectiveKind::kBroadcast), 0);
}

TEST(Collectives, ShardsMoveToOtherDevicesAtOnce) {
  const Module module = ChainModule();
  struct Move {
    std::vector<std::string> from;
    std::vector<std::string> to;
    int parts;
  };
  const Move moves[] = {
      {{"cpu:0", "cpu:1"}, {"cpu:1", "cpu:0"}, 2},
      {{"cpu:0", "cpu:1", "cpu:2"}, {"cpu:1", "cpu:2", "cpu:0"}, 3},
      {{"cpu:0", "cpu:1"}, {"cpu:2", "cpu:3"}, 4},
      {{"cpu:0", "cpu:1"}, {"cpu:1", "cpu:2"}, 3},
      // One shard stays on its device: copies move the others.
      {{"cpu:0", "cpu:1", "cpu:2"}, {"cpu:0", "cpu:2", "cpu:1"}, 0}};
  for (const Move& move : moves) {
    absl::StatusOr<Compiled> compiled =
        CompilePinned(module, EqualCpus(4, kRoom),
                      {{"first", move.from, 0}, {"second", move.to, 0}});
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(CountParts(compiled->plan, CollectiveKind::kPermute), move.parts);
    ExpectRunsLikeReference(module, std::move(compiled->plan));
  }
}

// Rows become columns, or whole: with two ranks each of these is one step.
TEST(Collectives, ShardsAreReshardedAndGatheredByTwo) {
  const Module module = ChainModule();
  const std::vector<std::string> two = {"cpu:0", "cpu:1"};
  absl::StatusOr<Compiled> columns = CompilePinned(
      module, EqualCpus(2, kRoom), {{"first", two, 0}, {"second", two, 1}});
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_EQ(CountParts(columns->plan, CollectiveKind::kAllToAll), 2);
  ExpectRunsLikeReference(module, std::move(columns->plan));
  absl::StatusOr<Compiled> whole = CompilePinned(
      module, EqualCpus(2, kRoom), {{"first", two, 0}, {"second", two}});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(CountParts(whole->plan, CollectiveKind::kAllGather), 2);
  ExpectRunsLikeReference(module, std::move(whole->plan));
}

// A ring over three devices takes two steps; copies over separate links take
// one.
TEST(Collectives, ThreeShardsAreMovedByCopies) {
  const Module module = ChainModule();
  const std::vector<std::string> three = {"cpu:0", "cpu:1", "cpu:2"};
  absl::StatusOr<Compiled> columns = CompilePinned(
      module, EqualCpus(3, kRoom), {{"first", three, 0}, {"second", three, 1}});
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_EQ(CountParts(columns->plan, CollectiveKind::kAllToAll), 0);
  ExpectRunsLikeReference(module, std::move(columns->plan));
}

// Sums over the batch; each device needs a shard of them.
TEST(Collectives, SumsAreScattered) {
  const Module module = SumModule();
  for (const int ranks : {2, 3}) {
    std::vector<std::string> devices;
    for (int i = 0; i < ranks; ++i) {
      devices.push_back(absl::StrCat("cpu:", i));
    }
    absl::StatusOr<Compiled> compiled = CompilePinned(
        module, EqualCpus(ranks, kRoom), {{"second", devices, 0}}, "data");
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    EXPECT_EQ(CountParts(compiled->plan, CollectiveKind::kReduceScatter),
              ranks);
    ExpectRunsLikeReference(module, std::move(compiled->plan));
  }
}

}  // namespace
}  // namespace partita
