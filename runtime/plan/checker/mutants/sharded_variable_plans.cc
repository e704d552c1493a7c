// Correct plans with variables that are sharded over devices, or written and
// never read.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kShardedUpdate = {
    .name = "a sharded variable, each shard updated in place",
    .graph = R"(variable @w: i8[3] = i8[3] [1, 2, 3]

graph @f(%x: i8[3] on {gpu:0, gpu:1} -> (split 0)) -> i8[3] {
  %w = variable {dtype = i8, name = "w", shape = [3]} : i8[3] on {gpu:0, gpu:1} -> (split 0)
  %y = mul %x, %w : i8[3] on {gpu:0, gpu:1} (split 0, split 0) -> (split 0)
  %u = add %w, %x : i8[3] on {gpu:0, gpu:1} (split 0, split 0) -> (split 0)
      by k {in_place = [0 -> 0]}
  update @w = %u
  return %y
})",
    .devices = R"(
      gpu:0 1 2
      gpu:1 2 4)",
    .declared = R"(
      input x i8[3]
      output y i8[3]
      arena gpu:0
        !w0 persistent 0 1
        !x0 0 1
        !y0 1 1
      arena gpu:1
        !w1 persistent 0 2
        !x1 0 2
        !y1 2 2
      persistent
        !w0 = %w
        !w1 = %w rank 1)",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %y rank 0 (!x0, !w0) -> !y0
      gpu:0/s kernel %u rank 0 (!w0, !x0) -> !w0
      gpu:0/s fetch !y0 output 0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %y rank 1 (!x1, !w1) -> !y1
      gpu:1/s record ev0
      gpu:1/t wait ev0
      gpu:1/t kernel %u rank 1 (!w1, !x1) -> !w1
      gpu:1/s fetch !y1 output 0)",
};

// Only the next step, or a caller, reads the shards.
constexpr ShortPlan kShardedWritten = {
    .name = "a sharded variable that is written and never read",
    .graph = R"(variable @w: i8[3] = i8[3] [1, 2, 3]

graph @f(%x: i8[3] on {gpu:0, gpu:1} -> (split 0)) -> i8[3] {
  %w = variable {dtype = i8, name = "w", shape = [3]} : i8[3] on {gpu:0, gpu:1} -> (split 0)
  %u = neg %x : i8[3] on {gpu:0, gpu:1} (split 0) -> (split 0)
  update @w = %u
  return %u as y
})",
    .devices = R"(
      gpu:0 1 1
      gpu:1 2 2)",
    .declared = R"(
      input x i8[3]
      output y i8[3]
      arena gpu:0
        !w0 persistent 0 1
        !x0 0 1
      arena gpu:1
        !w1 persistent 0 2
        !x1 0 2
      persistent
        !w0 = %w
        !w1 = %w rank 1)",
    .launch = R"(
      gpu:0/s feed -> !x0 input 0
      gpu:0/s kernel %u rank 0 (!x0) -> !w0
      gpu:1/s feed -> !x1 input 0
      gpu:1/s kernel %u rank 1 (!x1) -> !w1
      gpu:0/s fetch !w0 output 0
      gpu:1/s record ev0
      gpu:1/out wait ev0
      gpu:1/out fetch !w1 output 0)",
};

// One device computes the update, two devices store it.
constexpr ShortPlan kReplicasWritten = {
    .name = "a variable on two devices that is written and never read",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]
variable @v: i8[2] = i8[2] [3, 4]

graph @f(%x: i8[2]) -> i8[2] {
  %w0 = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %w1 = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:1
  %v0 = variable {dtype = i8, name = "v", shape = [2]} : i8[2] on gpu:0
  %u = neg %x : i8[2] on gpu:0
  %c = copy %u : i8[2] on gpu:1
  %y = abs %x : i8[2] on gpu:0
  update @w = %u
  update @v = %y
  return %y
})",
    .devices = R"(
      gpu:0 4 2
      gpu:1 2 0)",
    .declared = R"(
      input x i8[2]
      output y i8[2]
      arena gpu:0
        !w0 persistent 0 2
        !v0 persistent 2 2
        !x 0 2
      arena gpu:1
        !w1 persistent 0 2
      persistent
        !w0 = %w0
        !v0 = %v0
        !w1 = %w1)",
    .launch = R"(
      gpu:0/s feed -> !x input 0
      gpu:0/s kernel %u (!x) -> !w0
      gpu:0/s record ev0
      gpu:0/s kernel %y (!x) -> !v0
      gpu:1/s wait ev0
      gpu:1/s copy %c !w0 -> !w1
      gpu:0/s fetch !v0 output 0)",
};

}  // namespace

std::vector<ShortPlan> ShardedVariablePlans() {
  return {kShardedUpdate, kShardedWritten, kReplicasWritten};
}

}  // namespace partita
