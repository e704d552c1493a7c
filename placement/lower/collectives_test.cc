// Tests which copies become collectives, and what each rank does.
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "placement/lower/lower_fixture.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Links that leave gpu:0 share one bus, a tenth as fast as the other links.
Machine FarFromFirst(int gpus) {
  Machine machine = LinkedMachine(gpus);
  for (Link& link : machine.links) {
    if (link.from != "gpu:0") continue;
    link.bus = "far";
    link.bandwidth /= 10;
  }
  return machine;
}

// The plan, after the checker accepted it and it ran like eval.
absl::StatusOr<Plan> CheckedPlan(const std::string& text,
                                 const Machine& machine) {
  absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  absl::StatusOr<Plan> plan = PlanOf(module->Clone(), machine);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return plan;
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status() << "\n" << PrintPlan(*plan);
  EXPECT_EQ(RunsLikeEval(*module, *plan), absl::OkStatus());
  return plan;
}

// The copies and collectives of the plan, one per line.
std::string TransfersOf(const std::string& text, const Machine& machine) {
  const absl::StatusOr<Plan> plan = CheckedPlan(text, machine);
  if (!plan.ok()) return "";
  const Entry& entry = plan->entries[0];
  const auto names = [&](const std::vector<BufferId>& ids) {
    return absl::StrJoin(ids, " ", [&](std::string* out, BufferId id) {
      absl::StrAppend(out, "!", entry.buffers[id.index].name);
    });
  };
  std::string transfers;
  for (const Command& command : entry.programs[0].commands) {
    if (command.kind != Command::Kind::kCopy &&
        command.kind != Command::Kind::kCollective) {
      continue;
    }
    const Stream& stream = entry.streams[command.stream.index];
    absl::StrAppend(&transfers, plan->devices[stream.device.index].traits.name,
                    " ", CommandKindName(command.kind), " ",
                    command.instance.rank, ": ", names(command.operands), "->",
                    names(command.results), "\n");
  }
  return transfers;
}

TEST(Collectives, ABroadcastGoesFromTheRootToTheOthers) {
  EXPECT_EQ(TransfersOf(R"(graph @f(%x: f32[4, 3]) -> (f32[4, 3], f32[4, 3]) {
  %h = exp %x : f32[4, 3] on gpu:0
  %y = neg %h : f32[4, 3] on {gpu:0, gpu:1, gpu:2}
  %z = abs %y : f32[4, 3] on gpu:1
  %u = exp %y : f32[4, 3] on gpu:2
  return %z, %u
}
)",
                        FarFromFirst(3)),
            "gpu:0 collective 0: !h->\n"
            "gpu:1 collective 1: ->!h.all.m1\n"
            "gpu:2 collective 2: ->!h.all.m2\n");
}

TEST(Collectives, ARootOutsideTheNodesDevicesIsTheLastRank) {
  EXPECT_EQ(TransfersOf(R"(graph @f(%x: f32[4, 3]) -> (f32[4, 3], f32[4, 3]) {
  %h = exp %x : f32[4, 3] on gpu:0
  %y = neg %h : f32[4, 3] on {gpu:1, gpu:2}
  %z = abs %y : f32[4, 3] on gpu:1
  %u = exp %y : f32[4, 3] on gpu:2
  return %z, %u
}
)",
                        FarFromFirst(3)),
            "gpu:1 collective 0: ->!h.all.m0\n"
            "gpu:2 collective 1: ->!h.all.m1\n"
            "gpu:0 collective 2: !h->\n");
}

// Separate links transfer the value to both devices at once.
TEST(Collectives, CopiesOverSeparateLinksAreFaster) {
  EXPECT_EQ(TransfersOf(R"(graph @f(%x: f32[4, 3]) -> (f32[4, 3], f32[4, 3]) {
  %h = exp %x : f32[4, 3] on gpu:0
  %y = neg %h : f32[4, 3] on {gpu:1, gpu:2}
  %z = abs %y : f32[4, 3] on gpu:1
  %u = exp %y : f32[4, 3] on gpu:2
  return %z, %u
}
)",
                        LinkedMachine(3)),
            "gpu:0 copy 0: !h->!h.all.m0\n"
            "gpu:0 copy 1: !h->!h.all.m1\n");
}

// A replicated variable whose new value is computed on one device. The root's
// own replica is updated in place, so it needs no command.
TEST(Collectives, AnUpdateIsBroadcastToTheReplicasOfItsVariable) {
  EXPECT_EQ(TransfersOf(R"(variable @w: f32[3] = f32[3] [1, 2, 3]

graph @f(%x: f32[6, 3]) -> f32[6, 3] {
  %w = variable {dtype = f32, name = "w", shape = [3]} : f32[3] on {gpu:0, gpu:1, gpu:2}
  %y = add %x, %w : f32[6, 3] on {gpu:0, gpu:1, gpu:2} (replicated, replicated) -> (split 0)
  %n = neg %w : f32[3] on gpu:0
  update @w = %n
  return %y
}
)",
                        FarFromFirst(3)),
            "gpu:1 copy 0: !y.m1->!y.gpu0\n"
            "gpu:2 copy 0: !y.m2->!y.gpu0.2\n"
            "gpu:0 copy 0: !y.m0->!y.gpu0.3\n"
            "gpu:0 collective 0: !n->\n"
            "gpu:1 collective 1: ->!w.next.m1\n"
            "gpu:2 collective 2: ->!w.next.m2\n");
}

// The ranges of operand and result of each rank, one rank per line.
std::string RangesOf(const std::string& text, int devices) {
  const absl::StatusOr<Plan> plan = CheckedPlan(text, LinkedMachine(devices));
  if (!plan.ok()) return "";
  const Entry& entry = plan->entries[0];
  const auto place = [&](BufferId id) {
    const Buffer& buffer = entry.buffers[id.index];
    return absl::StrCat(buffer.persistent ? "persistent " : "", "+",
                        buffer.range.offset, " ", buffer.range.size(), " B");
  };
  std::string ranges;
  for (const Command& command : entry.programs[0].commands) {
    if (command.kind != Command::Kind::kCollective) continue;
    absl::StrAppend(&ranges, place(command.operands[0]), " -> ",
                    place(command.results[0]), "\n");
  }
  return ranges;
}

// A minimal sharded optimizer: each device takes its maximum over its part of
// the batch. A reduce-scatter of the maxima gives each device a shard, which
// updates its shard of the variable.
constexpr char kShardedUpdate[] = R"(variable @w: f32[4, 16] = f32[4, 16] ONES

graph @f(%x: f32[3, 4, 16]) -> f32[3] {
  %w = variable {dtype = f32, name = "w", shape = [4, 16]} : f32[4, 16] on GPUS
  %y = neg %x : f32[3, 4, 16] on GPUS (split 0) -> (split 0)
  %l = reduce_max %y {axes = [1, 2], keep_dims = false} : f32[3] on GPUS (split 0) -> (split 0)
  %g = reduce_max %y {axes = [0], keep_dims = false} : f32[4, 16] on GPUS (split 0) -> (partial max)
  %n = sub %w, %g : f32[4, 16] on GPUS (split 0, split 0) -> (split 0)
  update @w = %n
  return %l
}
)";

// The reduce-scatter writes each shard at its offset in the operand. The update
// writes each shard of the new value at its offset in the variable.
TEST(Collectives, ShardedUpdatesAreMadeInPlace) {
  const std::string ones =
      absl::StrCat("[", absl::StrJoin(std::vector<int>(64, 1), ", "), "]");
  EXPECT_EQ(RangesOf(absl::StrReplaceAll(
                         kShardedUpdate,
                         {{"ONES", ones}, {"GPUS", "{gpu:0, gpu:1}"}}),
                     2),
            "+256 256 B -> +256 128 B\n"
            "+512 256 B -> +640 128 B\n"
            "persistent +0 128 B -> persistent +0 256 B\n"
            "persistent +128 128 B -> persistent +0 256 B\n");
  // With three devices, copies over separate links would be faster, but an
  // all-gather lets the shards be written in place.
  EXPECT_EQ(RangesOf(absl::StrReplaceAll(
                         kShardedUpdate,
                         {{"ONES", ones}, {"GPUS", "{gpu:0, gpu:1, gpu:2}"}}),
                     3),
            "+256 256 B -> +256 64 B\n"
            "+256 256 B -> +320 64 B\n"
            "+256 256 B -> +384 128 B\n"
            "persistent +0 64 B -> persistent +0 256 B\n"
            "persistent +64 64 B -> persistent +0 256 B\n"
            "persistent +128 128 B -> persistent +0 256 B\n");
}

// In the variable, the all-gather would write the shard again that another node
// has read.
TEST(Collectives, AShardThatOthersReadIsNotUpdatedInPlace) {
  const std::string ones =
      absl::StrCat("[", absl::StrJoin(std::vector<int>(64, 1), ", "), "]");
  const Module module = ModuleOf(absl::StrReplaceAll(
      kShardedUpdate,
      {{"ONES", ones},
       {"-> f32[3] {", "-> (f32[3], f32[4]) {"},
       {"  update @w",
        "  %e = reduce_max %n {axes = [1], keep_dims = false} : f32[4] on "
        "{gpu:0, gpu:1} (split 0) -> (split 0)\n  update @w"},
       {"return %l", "return %l, %e"},
       {"GPUS", "{gpu:0, gpu:1}"}}));
  const absl::StatusOr<Plan> plan = PlanOf(module.Clone(), LinkedMachine(2));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status();
  EXPECT_THAT(PrintPlan(*plan), HasSubstr("collective %w.next !n.m0"));
}

TEST(Collectives, APermuteMovesEveryShard) {
  EXPECT_EQ(TransfersOf(R"(graph @f(%x: f32[5, 3]) -> f32[5, 3] {
  %h = exp %x : f32[5, 3] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %y = neg %h : f32[5, 3] on {gpu:1, gpu:2} (replicated) -> (split 0)
  %z = abs %y : f32[5, 3] on {gpu:2, gpu:1} (replicated) -> (split 0)
  return %z
}
)",
                        LinkedMachine(3)),
            "gpu:1 collective 0: !h.m1->!h.split0.m0\n"
            "gpu:2 collective 1: ->!h.split0.m1\n"
            "gpu:0 collective 2: !h.m0->\n"
            "gpu:2 collective 0: !y.m1->!y.split0.m0\n"
            "gpu:1 collective 1: !y.m0->!y.split0.m1\n"
            "gpu:1 copy 0: !z.m1->!z.gpu2\n"
            "gpu:2 copy 0: !z.m0->!z.gpu2.2\n");
}

TEST(Collectives, AnAllToAllIsFollowedByAnAllGather) {
  EXPECT_EQ(TransfersOf(R"(graph @f(%x: f32[5, 3]) -> (f32[5, 3], f32[5, 3]) {
  %h = exp %x : f32[5, 3] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %y = neg %h : f32[5, 3] on {gpu:0, gpu:1} (replicated) -> (split 1)
  %z = abs %y : f32[5, 3] on {gpu:0, gpu:1}
  %u = exp %z : f32[5, 3] on gpu:0
  %v = neg %z : f32[5, 3] on gpu:1
  return %u, %v
}
)",
                        LinkedMachine(2)),
            "gpu:0 collective 0: !h.m0->!h.split1.m0\n"
            "gpu:1 collective 1: !h.m1->!h.split1.m1\n"
            "gpu:0 collective 0: !y.m0->!y.all.m0\n"
            "gpu:1 collective 1: !y.m1->!y.all.m1\n");
}

// A ring of three takes two steps; direct copies over separate links take one.
// Over one half-duplex bus both take the same time, except for the latency of
// the second step.
TEST(Collectives, ARingOfThreeIsSlowerThanDirectCopies) {
  const std::string text = R"(graph @f(%x: f32[6, 3]) -> f32[6, 3] {
  %h = exp %x : f32[6, 3] on {gpu:0, gpu:1, gpu:2} (replicated) -> (split 0)
  %y = neg %h : f32[6, 3] on {gpu:0, gpu:1, gpu:2}
  return %y
}
)";
  Machine machine = LinkedMachine(3);
  EXPECT_THAT(TransfersOf(text, machine), Not(HasSubstr("collective")));
  for (Link& link : machine.links) {
    link.bus = "one";
    link.duplex = false;
  }
  EXPECT_THAT(TransfersOf(text, machine), HasSubstr("collective"));
  for (Link& link : machine.links) link.latency = 1e-6;
  EXPECT_THAT(TransfersOf(text, machine), Not(HasSubstr("collective")));
}

// The streams of all ranks, one per line.
std::string StreamsOfRanks(const std::string& text, const Machine& machine) {
  absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Plan> plan = PlanOf(*std::move(module), machine);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return "";
  const Entry& entry = plan->entries[0];
  std::string streams;
  for (const Command& command : entry.programs[0].commands) {
    if (command.kind != Command::Kind::kCollective) continue;
    const Stream& stream = entry.streams[command.stream.index];
    absl::StrAppend(&streams, plan->devices[stream.device.index].traits.name,
                    "/", stream.name, "\n");
  }
  return streams;
}

// A sender goes on computing while the receivers have not arrived. All ranks of
// an all-reduce wait for its result anyway.
TEST(Collectives, OnCpusOnlyAllReducesRunInTheComputeStream) {
  Machine machine = FarFromFirst(3);
  for (MachineDevice& device : machine.devices) {
    device.traits.kind = DeviceKind::kCpu;
  }
  EXPECT_EQ(
      StreamsOfRanks(R"(graph @f(%x: f32[4, 3]) -> (f32[4, 3], f32[4, 3]) {
  %h = exp %x : f32[4, 3] on gpu:0
  %y = neg %h : f32[4, 3] on {gpu:0, gpu:1, gpu:2}
  %z = abs %y : f32[4, 3] on gpu:1
  %u = exp %y : f32[4, 3] on gpu:2
  return %z, %u
}
)",
                     machine),
      "gpu:0/collective\ngpu:1/collective\ngpu:2/collective\n");
  EXPECT_EQ(StreamsOfRanks(R"(graph @f(%x: f32[4, 3]) -> f32[3] {
  %s = reduce_sum %x {axes = [0], keep_dims = false} : f32[3]
      on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %n = neg %s : f32[3] on {gpu:0, gpu:1}
  return %n
}
)",
                           machine),
            "gpu:0/compute\ngpu:1/compute\n");
}

TEST(Collectives, EachMicroBatchHasItsOwnCollective) {
  absl::StatusOr<Module> module = ParseModule(
      R"(graph @f(%x: f32[6, 3]) -> f32[6, 3] {
  %h = exp %x : f32[6, 3] on {gpu:0, gpu:1} (replicated) -> (split 0)
  %y = neg %h : f32[6, 3] on {gpu:1, gpu:0} (replicated) -> (split 0)
  return %y
}
)",
      "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Plan> plan =
      PlanOf(module->Clone(), LinkedMachine(2), {}, {.count = 3});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status() << "\n" << PrintPlan(*plan);
  EXPECT_EQ(RunsLikeEval(*module, *plan), absl::OkStatus());
  const auto commands = Expand(plan->entries[0]);
  ASSERT_TRUE(commands.ok());
  int num_commands = 0;
  for (const Command& command : *commands) {
    num_commands += command.kind == Command::Kind::kCollective;
  }
  EXPECT_EQ(num_commands, 3 * 2);
}

}  // namespace
}  // namespace partita
