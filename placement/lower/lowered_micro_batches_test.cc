// Tests lowering of steps with several micro-batches.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "placement/lower/lower_fixture.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// A training step over two stages. Its backward pass reads a sum over the whole
// batch. All numbers are small integers, so that sums are exact.
constexpr char kTraining[] =
    R"(variable @w1: f32[2, 3] = f32[2, 3] [1, -2, 3, 4, 5, -6]
variable @w2: f32[3, 1] = f32[3, 1] [1, 2, -3]

graph @train(%x: f32[8, 2], %t: f32[8, 1]) -> (f32[], f32[8, 1]) {
  %w1 = variable {dtype = f32, name = "w1", shape = [2, 3]} : f32[2, 3]
  %a = matmul %x, %w1 : f32[8, 3] on gpu:0
  %h = relu %a : f32[8, 3] on gpu:0
  %w2 = variable {dtype = f32, name = "w2", shape = [3, 1]} : f32[3, 1]
  %y = matmul %h, %w2 : f32[8, 1] on gpu:1
  %one = constant f32[] -1
  %counts = max %t, %one : f32[8, 1] on gpu:1
  %count = reduce_sum %counts {axes = [0, 1], keep_dims = false} : f32[] on gpu:1
  %least = min %count, %one : f32[] on gpu:1
  %d0 = sub %y, %t : f32[8, 1] on gpu:1
  %d = mul %d0, %least : f32[8, 1] on gpu:1
  %loss = reduce_sum %d {axes = [0, 1], keep_dims = false} : f32[] on gpu:1
  %ht = transpose %h {perm = [1, 0]} : f32[3, 8] on gpu:1
  %g2 = matmul %ht, %d : f32[3, 1] on gpu:1
  %w2t = transpose %w2 {perm = [1, 0]} : f32[1, 3] on gpu:1
  %e = matmul %d, %w2t : f32[8, 3] on gpu:1
  %sign = sign %h : f32[8, 3] on gpu:0
  %f = mul %e, %sign : f32[8, 3] on gpu:0
  %xt = transpose %x {perm = [1, 0]} : f32[2, 8] on gpu:0
  %g1 = matmul %xt, %f : f32[2, 3] on gpu:0
  %s1 = sign %g1 : f32[2, 3] on gpu:0
  %n1 = sub %w1, %s1 : f32[2, 3] on gpu:0
  update @w1 = %n1
  %s2 = sign %g2 : f32[3, 1] on gpu:1
  %n2 = sub %w2, %s2 : f32[3, 1] on gpu:1
  update @w2 = %n2
  return %loss, %y
}
)";

Plan InMicroBatches(int count, PipelineSchedule schedule) {
  absl::StatusOr<Plan> plan = PlanOf(ModuleOf(kTraining), LinkedMachine(2), {},
                                     {.count = count, .schedule = schedule});
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return Plan();
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status() << "\n" << PrintPlan(*plan);
  const absl::Status runs = RunsLikeEval(ModuleOf(kTraining), *plan);
  EXPECT_TRUE(runs.ok()) << runs << "\n" << PrintPlan(*plan);
  return *std::move(plan);
}

// The micro-batches of a node's commands, in launch order.
std::string MicroBatchesOf(const Plan& plan, absl::string_view name) {
  const absl::StatusOr<CommandList> commands = Expand(plan.entries[0]);
  std::string text;
  for (const Command& command : *commands) {
    if (command.kind != Command::Kind::kKernel) continue;
    const OpView node = plan.entries[0].graph->view(command.instance.node);
    if (node.result(0).name() != name) continue;
    absl::StrAppend(&text, command.instance.micro_batch.index);
  }
  return text;
}

TEST(LoweredMicroBatches, MicroBatchesRunLikeTheWholeBatch) {
  for (const int count : {1, 2, 4, 8}) {
    for (const PipelineSchedule schedule :
         {PipelineSchedule::kOneForwardOneBackward, PipelineSchedule::kGPipe}) {
      const Plan plan = InMicroBatches(count, schedule);
      ASSERT_EQ(plan.entries.size(), 1u);
      EXPECT_EQ(plan.entries[0].outputs[1].type.ToString(), "f32[8, 1]");
    }
  }
}

// The number of valid labels is summed first, over all micro-batches. Updates
// come last, once.
TEST(LoweredMicroBatches, MicroBatchesRunInOrder) {
  const Plan plan = InMicroBatches(4, PipelineSchedule::kOneForwardOneBackward);
  EXPECT_EQ(MicroBatchesOf(plan, "counts"), "0123");
  EXPECT_EQ(MicroBatchesOf(plan, "count.sum"), "123");
  EXPECT_EQ(MicroBatchesOf(plan, "least"), "0");
  EXPECT_EQ(MicroBatchesOf(plan, "g1.sum"), "123");
  EXPECT_EQ(MicroBatchesOf(plan, "n1"), "0");
}

TEST(LoweredMicroBatches, GPipeNeedsMoreMemory) {
  const auto bytes = [](PipelineSchedule schedule) {
    return InMicroBatches(8, schedule).devices[0].step_bytes;
  };
  EXPECT_LT(bytes(PipelineSchedule::kOneForwardOneBackward),
            bytes(PipelineSchedule::kGPipe));
}

TEST(LoweredMicroBatches, AnAccumulateWrittenByHandIsRefused) {
  const absl::StatusOr<Plan> plan = PlanOf(
      ModuleOf("graph @f(%x: f32[2]) -> f32[2] {\n"
               "  %s = accumulate %x {micro_batches = 2} : f32[2] on gpu:0\n"
               "  return %s\n}\n"),
      LinkedMachine(1));
  EXPECT_EQ(plan.status().message(),
            "accumulate %s: found a sum over 2 micro-batches in a step of 1; "
            "expected the same number; let the compiler add such sums");
}

}  // namespace
}  // namespace partita
