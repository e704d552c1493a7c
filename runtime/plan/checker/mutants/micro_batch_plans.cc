// Correct plans that run a step in micro-batches.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {
namespace {

constexpr ShortPlan kMicroBatches = {
    .name = "two micro-batches in two slots",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  %y = abs %c : i8[2] on gpu:1
  return %y
})",
    .devices = R"(
      gpu:0 0 6
      gpu:1 0 6)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x 0 2
        !a0 2 2
        !a1 4 2
      arena gpu:1
        !c0 0 2
        !c1 2 2
        !y 4 2)",
    .launch = R"(
      gpu:0/compute feed batch 0 -> !x input 0
      gpu:0/compute kernel %a batch 0 (!x) -> !a0
      gpu:0/compute record ev0
      gpu:1/compute wait ev0
      gpu:1/compute copy %c batch 0 !a0 -> !c0
      gpu:0/compute feed batch 1 -> !x input 0
      gpu:0/compute kernel %a batch 1 (!x) -> !a1
      gpu:0/compute record ev1
      gpu:1/compute kernel %y batch 0 (!c0) -> !y
      gpu:1/compute fetch batch 0 !y output 0
      gpu:1/compute wait ev1
      gpu:1/compute copy %c batch 1 !a1 -> !c1
      gpu:1/compute kernel %y batch 1 (!c1) -> !y
      gpu:1/compute fetch batch 1 !y output 0)",
};

constexpr ShortPlan kOneSlot = {
    .name = "two micro-batches in one slot",
    .graph = R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  return %c as y
})",
    .devices = R"(
      gpu:0 0 4
      gpu:1 0 2)",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !x 0 2
        !a 2 2
      arena gpu:1
        !c 0 2)",
    .launch = R"(
      gpu:0/compute feed batch 0 -> !x input 0
      gpu:0/compute kernel %a batch 0 (!x) -> !a
      gpu:0/compute record ev0
      gpu:0/copy wait ev0
      gpu:0/copy copy %c batch 0 !a -> !c
      gpu:0/copy record ev1
      gpu:0/compute feed batch 1 -> !x input 0
      gpu:0/compute wait ev1
      gpu:0/compute kernel %a batch 1 (!x) -> !a
      gpu:0/compute record ev2
      gpu:1/out wait ev1
      gpu:1/out fetch batch 0 !c output 0
      gpu:1/out record ev3
      gpu:0/copy wait ev2
      gpu:0/copy wait ev3
      gpu:0/copy copy %c batch 1 !a -> !c
      gpu:0/copy record ev4
      gpu:1/out wait ev4
      gpu:1/out fetch batch 1 !c output 0)",
};

constexpr ShortPlan kPrograms = {
    .name = "three micro-batches in two slots, by programs",
    .graph = R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0
  %c = copy %a : i8[1] on gpu:1
  return %c as y
})",
    .devices = R"(
      gpu:0 0 3
      gpu:1 0 1)",
    .declared = R"(
      input x i8[3]
      output y i8[3]
      arena gpu:0
        !x 0 1
        !a0 1 1
        !a1 2 1
      arena gpu:1
        !c 0 1
      stream gpu:0/s
      stream gpu:1/s
      program first buffers 1 events 1 {
        stream gpu:0/s
          0 feed -> !x input 0
          1 kernel %a (!x) -> $0
          2 record slot0
      }
      program later buffers 1 events 2 {
        stream gpu:0/s
          0 feed -> !x input 0
          1 wait slot1
          2 kernel %a (!x) -> $0
          3 record slot0
      }
      program out buffers 1 events 2 {
        stream gpu:1/s
          0 wait slot0
          1 copy %c $0 -> !c
          2 record slot1
          3 fetch !c output 0
      }
      schedule
        invoke first batch 0 buffers (!a0) events (ev0)
        invoke first batch 1 buffers (!a1) events (ev1)
        invoke out batch 0 buffers (!a0) events (ev0, ev2)
        invoke later batch 2 buffers (!a0) events (ev4, ev2)
        invoke out batch 1 buffers (!a1) events (ev1, ev3)
        invoke out batch 2 buffers (!a0) events (ev4, ev5))",
    .launch = "",
};

// The update of the variable is the same in both micro-batches, so it is
// computed once, after both have read the old value.
constexpr ShortPlan kSharedUpdate = {
    .name = "two micro-batches and one update",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %y = mul %x, %w : i8[2] on gpu:0
  %u = neg %w : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %y
})",
    .devices = "gpu:0 2 6",
    .declared = R"(
      input x i8[4]
      output y i8[4]
      arena gpu:0
        !w persistent 0 2
        !x 0 2
        !y0 2 2
        !y1 4 2
      persistent
        !w = %w)",
    .launch = R"(
      gpu:0/s feed batch 0 -> !x input 0
      gpu:0/s kernel %y batch 0 (!x, !w) -> !y0
      gpu:0/s record ev0
      gpu:0/out wait ev0
      gpu:0/out fetch batch 0 !y0 output 0
      gpu:0/s feed batch 1 -> !x input 0
      gpu:0/s kernel %y batch 1 (!x, !w) -> !y1
      gpu:0/s record ev1
      gpu:0/out wait ev1
      gpu:0/out kernel %u (!w) -> !w
      gpu:0/s fetch batch 1 !y1 output 0)",
};

// The first micro-batch's gradient is the first sum: it is computed in the
// accumulation buffer. The update reads the whole sum.
constexpr ShortPlan kSummedUpdate = {
    .name = "three micro-batches, their sum and one update",
    .graph = R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %g = mul %x, %w : i8[2] on gpu:0
  %s = accumulate %g {micro_batches = 3} : i8[2] on gpu:0
      by k {in_place = [0 -> 0, 1 -> 0]}
  %u = sub %w, %s : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %s
})",
    .devices = "gpu:0 2 8",
    .declared = R"(
      input x i8[6]
      output s i8[2]
      arena gpu:0
        !w persistent 0 2
        !x 0 2
        !g 2 2
        !g2 4 2
        !s 6 2
      persistent
        !w = %w)",
    .launch = R"(
      gpu:0/s feed batch 0 -> !x input 0
      gpu:0/s kernel %g batch 0 (!x, !w) -> !s
      gpu:0/s feed batch 1 -> !x input 0
      gpu:0/s kernel %g batch 1 (!x, !w) -> !g
      gpu:0/s record ev0
      gpu:0/add wait ev0
      gpu:0/add kernel %s batch 1 (!g, !s) -> !s
      gpu:0/s feed batch 2 -> !x input 0
      gpu:0/s kernel %g batch 2 (!x, !w) -> !g2
      gpu:0/s record ev1
      gpu:0/add wait ev1
      gpu:0/add kernel %s batch 2 (!g2, !s) -> !s
      gpu:0/add kernel %u (!w, !s) -> !w
      gpu:0/add fetch !s output 0)",
};

// One forward, one backward: the first stage stores activations of at most two
// micro-batches, in two slots.
constexpr ShortPlan kOneForwardOneBackward = {
    .name = "a pipeline of two stages, three micro-batches and their sum",
    .graph = R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0
  %c = copy %a : i8[1] on gpu:1
  %l = abs %c : i8[1] on gpu:1
  %d = copy %l : i8[1] on gpu:0
  %g = mul %a, %d : i8[1] on gpu:0
  %s = accumulate %g {micro_batches = 3} : i8[1] on gpu:0
      by k {in_place = [1 -> 0]}
  return %s
})",
    .devices = R"(
      gpu:0 0 7
      gpu:1 0 2)",
    .declared = R"(
      input x i8[3]
      output s i8[1]
      arena gpu:0
        !x 0 1
        !a0 1 1
        !a1 2 1
        !d0 3 1
        !d1 4 1
        !g 5 1
        !s 6 1
      arena gpu:1
        !c 0 1
        !l 1 1
      stream gpu:0/s
      stream gpu:1/s
      program forward buffers 1 events 1 {
        stream gpu:0/s
          0 feed -> !x input 0
          1 kernel %a (!x) -> $0
          2 record slot0
      }
      program turn buffers 2 events 2 {
        stream gpu:1/s
          0 wait slot0
          1 copy %c $0 -> !c
          2 kernel %l (!c) -> !l
          3 copy %d !l -> $1
          4 record slot1
      }
      program backward buffers 3 events 1 {
        stream gpu:0/s
          0 wait slot0
          1 kernel %g ($0, $1) -> $2
      }
      program add {
        stream gpu:0/s
          0 kernel %s (!g, !s) -> !s
      }
      program end {
        stream gpu:0/s
          0 fetch !s output 0
      }
      schedule
        invoke forward batch 0 buffers (!a0) events (ev0)
        invoke forward batch 1 buffers (!a1) events (ev1)
        invoke turn batch 0 buffers (!a0, !d0) events (ev0, ev3)
        invoke backward batch 0 buffers (!a0, !d0, !s) events (ev3)
        invoke turn batch 1 buffers (!a1, !d1) events (ev1, ev4)
        invoke forward batch 2 buffers (!a0) events (ev2)
        invoke backward batch 1 buffers (!a1, !d1, !g) events (ev4)
        invoke add batch 1
        invoke turn batch 2 buffers (!a0, !d0) events (ev2, ev5)
        invoke backward batch 2 buffers (!a0, !d0, !g) events (ev5)
        invoke add batch 2
        invoke end)",
    .launch = "",
};

// Each replica accumulates its own gradients; one all_reduce sums them.
constexpr ShortPlan kSummedReplicas = {
    .name = "three micro-batches over two replicas, and one all_reduce",
    .graph =
        R"(graph @f(%x: i8[2, 2] on {gpu:0, gpu:1} -> (split 0)) -> i8[2] {
  %g = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %s = accumulate %g {micro_batches = 3} : i8[2] on {gpu:0, gpu:1} (partial sum) -> (partial sum)
      by k {in_place = [1 -> 0]}
  %r = copy %s : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  return %r
})",
    .devices = R"(
      gpu:0 0 8
      gpu:1 0 8)",
    .declared = R"(
      input x i8[6, 2]
      output r i8[2]
      arena gpu:0
        !x0 0 2
        !g0 2 2
        !s0 4 2
        !r0 6 2
      arena gpu:1
        !x1 0 2
        !g1 2 2
        !s1 4 2
        !r1 6 2
      group 0 (gpu:0/s, gpu:1/s))",
    .launch = R"(
      gpu:0/s feed batch 0 -> !x0 input 0
      gpu:0/s kernel %g rank 0 batch 0 (!x0) -> !s0
      gpu:1/s feed batch 0 -> !x1 input 0
      gpu:1/s kernel %g rank 1 batch 0 (!x1) -> !s1
      gpu:0/s feed batch 1 -> !x0 input 0
      gpu:0/s kernel %g rank 0 batch 1 (!x0) -> !g0
      gpu:1/s feed batch 1 -> !x1 input 0
      gpu:1/s kernel %g rank 1 batch 1 (!x1) -> !g1
      gpu:0/s kernel %s rank 0 batch 1 (!g0, !s0) -> !s0
      gpu:1/s kernel %s rank 1 batch 1 (!g1, !s1) -> !s1
      gpu:0/s feed batch 2 -> !x0 input 0
      gpu:0/s kernel %g rank 0 batch 2 (!x0) -> !g0
      gpu:1/s feed batch 2 -> !x1 input 0
      gpu:1/s kernel %g rank 1 batch 2 (!x1) -> !g1
      gpu:0/s kernel %s rank 0 batch 2 (!g0, !s0) -> !s0
      gpu:1/s kernel %s rank 1 batch 2 (!g1, !s1) -> !s1
      gpu:0/s collective %r rank 0 !s0 -> !r0 group 0
      gpu:1/s collective %r rank 1 !s1 -> !r1 group 0
      gpu:0/s fetch !r0 output 0)",
};

// Each micro-batch has its own random numbers, though its inputs are the same.
constexpr ShortPlan kRandomNumbers = {
    .name = "random numbers of two micro-batches",
    .graph = R"(graph @f() -> f32[1] {
  %w = constant u64[] 3 on gpu:0
  %y = random_uniform %w, %w {advance = [1], id = 0, origin = [0], shape = [1],
      whole = [2]} : f32[1] on gpu:0
  return %y
})",
    .devices = "gpu:0 8 8",
    .declared = R"(
      output y f32[2]
      arena gpu:0
        !w persistent 0 8
        !y0 0 4
        !y1 4 4
      persistent
        !w = %w)",
    .launch = R"(
      gpu:0/s kernel %y batch 0 (!w, !w) -> !y0
      gpu:0/s record ev0
      gpu:0/out wait ev0
      gpu:0/out fetch batch 0 !y0 output 0
      gpu:0/s kernel %y batch 1 (!w, !w) -> !y1
      gpu:0/s record ev1
      gpu:0/out wait ev1
      gpu:0/out fetch batch 1 !y1 output 0)",
};

}  // namespace

std::vector<ShortPlan> MicroBatchPlans() {
  return {kMicroBatches,   kOneSlot,      kPrograms,
          kSharedUpdate,   kSummedUpdate, kOneForwardOneBackward,
          kSummedReplicas, kRandomNumbers};
}

}  // namespace partita
