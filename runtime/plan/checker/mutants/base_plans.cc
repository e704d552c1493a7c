// Hand-written good plans, each of a few commands.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/base_plans.h"

namespace partita {
namespace {

constexpr ShortPlan kOneStream = {"one stream, memory used again",
                                  R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %a : i8[4] on gpu:0
  return %b
})",
                                  "gpu:0 0 8",
                                  R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x 0 4
         !a 4 4
         !b 0 4)",
                                  R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s kernel %b (!a) -> !b
       gpu:0/s fetch !b output 0)"};

constexpr ShortPlan kTwoStreams = {"two streams of one device",
                                   R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %a : i8[4] on gpu:0
  return %b
})",
                                   "gpu:0 0 12",
                                   R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x 0 4
         !a 4 4
         !b 8 4)",
                                   R"(gpu:0/io feed -> !x input 0
       gpu:0/io record ev0
       gpu:0/s wait ev0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s kernel %b (!a) -> !b
       gpu:0/s record ev1
       gpu:0/io wait ev1
       gpu:0/io fetch !b output 0)"};

constexpr ShortPlan kMlp = {"two layers on two devices",
                            R"(graph @f(%x: i8[4]) -> i8[4] {
  %w1 = constant i8[4] [1, 2, 3, 4] on gpu:0
  %w2 = constant i8[4] [5, 6, 7, 8] on gpu:1
  %a = mul %x, %w1 : i8[4] on gpu:0
  %h = abs %a : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %c = copy %h : i8[4] on gpu:1
  %y = add %c, %w2 : i8[4] on gpu:1
  return %y
})",
                            R"(gpu:0 4 8
       gpu:1 4 8)",
                            R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !w1 persistent 0 4
         !x 0 4
         !a 4 4
       arena gpu:1
         !w2 persistent 0 4
         !h 0 4
         !y 4 4
       persistent
         !w1 = %w1
         !w2 = %w2)",
                            R"(gpu:0/compute feed -> !x input 0
       gpu:0/compute kernel %a (!x, !w1) -> !a
       gpu:0/compute kernel %h (!a) -> !a
       gpu:0/compute record ev0
       gpu:0/copy wait ev0
       gpu:0/copy copy %c !a -> !h
       gpu:0/copy record ev1
       gpu:1/compute wait ev1
       gpu:1/compute kernel %y (!h, !w2) -> !y
       gpu:1/compute fetch !y output 0)"};

constexpr ShortPlan kReuse = {"a sent buffer is overwritten after its copy",
                              R"(graph @f(%x: i8[4]) -> (i8[4], i8[4]) {
  %a = neg %x : i8[4] on gpu:0
  %c = copy %a : i8[4] on gpu:1
  %y = abs %c : i8[4] on gpu:1 by k {in_place = [0 -> 0]}
  %z = abs %x : i8[4] on gpu:0
  return %y, %z
})",
                              R"(gpu:0 0 8
       gpu:1 0 4)",
                              R"(input x i8[4]
       output y i8[4]
       output z i8[4]
       arena gpu:0
         !x 0 4
         !a 4 4
       arena gpu:1
         !c 0 4
       arena gpu:0
         !z 4 4)",
                              R"(gpu:0/compute feed -> !x input 0
       gpu:0/compute kernel %a (!x) -> !a
       gpu:0/compute record ev0
       gpu:1/compute wait ev0
       gpu:1/compute copy %c !a -> !c
       gpu:1/compute record ev1
       gpu:0/compute wait ev1
       gpu:0/compute kernel %z (!x) -> !z
       gpu:0/compute fetch !z output 1
       gpu:1/compute kernel %y (!c) -> !c
       gpu:1/compute fetch !c output 0)"};

constexpr ShortPlan kMicroBatches = {"two micro-batches in two slots",
                                     R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  %y = abs %c : i8[2] on gpu:1
  return %y
})",
                                     R"(gpu:0 0 6
       gpu:1 0 6)",
                                     R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x 0 2
         !a0 2 2
         !a1 4 2
       arena gpu:1
         !c0 0 2
         !c1 2 2
         !y 4 2)",
                                     R"(gpu:0/compute feed batch 0 -> !x input 0
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
       gpu:1/compute fetch batch 1 !y output 0)"};

constexpr ShortPlan kOneSlot = {"two micro-batches in one slot",
                                R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  return %c
})",
                                R"(gpu:0 0 4
       gpu:1 0 2)",
                                R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x 0 2
         !a 2 2
       arena gpu:1
         !c 0 2)",
                                R"(gpu:0/compute feed batch 0 -> !x input 0
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
       gpu:1/out fetch batch 1 !c output 0)"};

constexpr ShortPlan kInPlace = {"a chain in place",
                                R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %b = abs %a : i8[4] on gpu:0 by k {in_place = [0 -> 0]}
  %c = add %b, %b : i8[4] on gpu:0 by k {in_place = [0 -> 0, 1 -> 0]}
  return %c
})",
                                "gpu:0 0 4",
                                R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x 0 4)",
                                R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !x
       gpu:0/s kernel %b (!x) -> !x
       gpu:0/s kernel %c (!x, !x) -> !x
       gpu:0/s fetch !x output 0)"};

constexpr ShortPlan kViews = {"views: reshape and concat without commands",
                              R"(graph @f(%x: i8[4], %z: i8[4]) -> i8[2, 4] {
  %a = neg %x : i8[4] on gpu:0
  %b = abs %z : i8[4] on gpu:0
  %j = concat %a, %b {axis = 0} : i8[8] on gpu:0
  %r = reshape %j {shape = [2, 4]} : i8[2, 4] on gpu:0
  %y = neg %r : i8[2, 4] on gpu:0
  return %y
})",
                              "gpu:0 0 16",
                              R"(input x i8[4]
       input z i8[4]
       output y i8[2, 4]
       arena gpu:0
         !x 0 4
         !z 4 4
         !a 8 4
         !b 12 4
         !j 8 8
         !y 0 8)",
                              R"(gpu:0/s feed -> !x input 0
       gpu:0/t feed -> !z input 1
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/t kernel %b (!z) -> !b
       gpu:0/t record ev0
       gpu:0/s wait ev0
       gpu:0/s kernel %y (!j) -> !y
       gpu:0/s fetch !y output 0)"};

constexpr ShortPlan kChannel = {"a channel of one slot",
                                R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %a : i8[2] on gpu:0
  %ca = copy %a : i8[2] on gpu:1
  %cb = copy %b : i8[2] on gpu:1
  return %ca, %cb
})",
                                R"(gpu:0 0 6
       gpu:1 0 6)",
                                R"(input x i8[2]
       output a i8[2]
       output b i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !b 4 2
       arena gpu:1
         !ca 0 2
         !cb 2 2
         !slot 4 2
       channel 0 gpu:0/s -> gpu:1/s capacity 1 slots (!slot))",
                                R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s send %ca !a channel 0
       gpu:0/s kernel %b (!a) -> !b
       gpu:1/s recv %ca -> !ca channel 0
       gpu:0/s send %cb !b channel 0
       gpu:1/s fetch !ca output 0
       gpu:1/s recv %cb -> !cb channel 0
       gpu:1/s fetch !cb output 1)"};

constexpr ShortPlan kWideChannel = {
    "a channel of two slots, messages under way together",
    R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %x : i8[2] on gpu:0
  %ca = copy %a : i8[2] on gpu:1
  %cb = copy %b : i8[2] on gpu:1
  %y = neg %ca : i8[2] on gpu:1 by k {in_place = [0 -> 0]}
  return %y, %cb
})",
    R"(gpu:0 0 4
       gpu:1 0 6)",
    R"(input x i8[2]
       output y i8[2]
       output b i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
       arena gpu:1
         !c 0 2
         !slot0 2 2
         !slot1 4 2
       channel 0 gpu:0/s -> gpu:1/s capacity 2 slots (!slot0, !slot1))",
    R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s send %ca !a channel 0
       gpu:0/s kernel %b (!x) -> !a
       gpu:0/s send %cb !a channel 0
       gpu:1/s recv %ca -> !c channel 0
       gpu:1/s kernel %y (!c) -> !c
       gpu:1/s fetch !c output 0
       gpu:1/s recv %cb -> !c channel 0
       gpu:1/s fetch !c output 1)"};

constexpr ShortPlan kRendezvous = {"a message without a slot, there and back",
                                   R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %there = copy %a : i8[2] on gpu:1
  %b = abs %there : i8[2] on gpu:1
  %back = copy %b : i8[2] on gpu:0
  %y = add %back, %a : i8[2] on gpu:0
  return %y
})",
                                   R"(gpu:0 0 8
       gpu:1 0 4)",
                                   R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !back 4 2
         !y 6 2
       arena gpu:1
         !there 0 2
         !b 2 2
       channel 0 gpu:0/s -> gpu:1/s capacity 0
       channel 1 gpu:1/s -> gpu:0/s capacity 0)",
                                   R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s send %there !a channel 0
       gpu:1/s recv %there -> !there channel 0
       gpu:1/s kernel %b (!there) -> !b
       gpu:1/s send %back !b channel 1
       gpu:0/s recv %back -> !back channel 1
       gpu:0/s kernel %y (!back, !a) -> !y
       gpu:0/s fetch !y output 0)"};

constexpr ShortPlan kAllReduce = {"all_reduce of partial sums",
                                  R"(graph @f(%x: i8[2]) -> i8[2] {
  %p = neg %x : i8[2] on {gpu:0, gpu:1} (replicated) -> (partial sum)
  %r = copy %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (replicated)
  %y = abs %r : i8[2] on {gpu:0, gpu:1} (replicated) -> (replicated)
  %z = copy %y : i8[2] on gpu:0
  return %z
})",
                                  R"(gpu:0 0 8
       gpu:1 0 6)",
                                  R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x0 0 2
         !p0 2 2
         !r0 4 2
         !y0 6 2
       arena gpu:1
         !x1 0 2
         !p1 2 2
         !r1 4 2
       group 0 (gpu:0/s, gpu:1/s))",
                                  R"(gpu:0/s feed -> !x0 input 0
       gpu:0/s kernel %p member 0 (!x0) -> !p0
       gpu:1/s feed -> !x1 input 0
       gpu:1/s kernel %p member 1 (!x1) -> !p1
       gpu:0/s collective %r member 0 !p0 -> !r0 group 0
       gpu:1/s collective %r member 1 !p1 -> !r1 group 0
       gpu:0/s kernel %y member 0 (!r0) -> !y0
       gpu:0/s fetch !y0 output 0)"};

constexpr ShortPlan kAllGather = {
    "all_gather of split rows, then memory used again",
    R"(graph @f(%x: i8[4]) -> i8[4] {
  %h = neg %x : i8[4] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %g = copy %h : i8[4] on {gpu:0, gpu:1} (split 0) -> (replicated)
  %y = abs %g : i8[4] on {gpu:0, gpu:1} (replicated) -> (replicated)
  return %y
})",
    R"(gpu:0 0 10
       gpu:1 0 10)",
    R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x0 0 4
         !half0 0 2
         !h0 4 2
         !g0 6 4
       arena gpu:1
         !x1 0 4
         !half1 2 2
         !h1 4 2
         !g1 6 4
       group 0 (gpu:0/c, gpu:1/c))",
    R"(gpu:0/s feed -> !x0 input 0
       gpu:0/s kernel %h member 0 (!half0) -> !h0
       gpu:0/s record ev0
       gpu:1/s feed -> !x1 input 0
       gpu:1/s kernel %h member 1 (!half1) -> !h1
       gpu:1/s record ev1
       gpu:0/c wait ev0
       gpu:1/c wait ev1
       gpu:0/c collective %g member 0 !h0 -> !g0 group 0
       gpu:1/c collective %g member 1 !h1 -> !g1 group 0
       gpu:0/c record ev2
       gpu:0/s wait ev2
       gpu:0/s kernel %y member 0 (!g0) -> !x0
       gpu:0/s fetch !x0 output 0)"};

constexpr ShortPlan kReduceScatter = {"reduce_scatter and all_gather in place",
                                      R"(graph @f(%x: i8[4]) -> i8[4] {
  %p = neg %x : i8[4] on {gpu:0, gpu:1} (replicated) -> (partial sum)
  %s = copy %p : i8[4] on {gpu:0, gpu:1} (partial sum) -> (split 0)
  %g = copy %s : i8[4] on {gpu:0, gpu:1} (split 0) -> (replicated)
  return %g
})",
                                      R"(gpu:0 0 8
       gpu:1 0 8)",
                                      R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x0 0 4
         !p0 4 4
         !s0 4 2
       arena gpu:1
         !x1 0 4
         !p1 4 4
         !s1 6 2
       group 0 (gpu:0/s, gpu:1/s))",
                                      R"(gpu:0/s feed -> !x0 input 0
       gpu:0/s kernel %p member 0 (!x0) -> !p0
       gpu:1/s feed -> !x1 input 0
       gpu:1/s kernel %p member 1 (!x1) -> !p1
       gpu:0/s collective %s member 0 !p0 -> !s0 group 0
       gpu:1/s collective %s member 1 !p1 -> !s1 group 0
       gpu:0/s collective %g member 0 !s0 -> !p0 group 0
       gpu:1/s collective %g member 1 !s1 -> !p1 group 0
       gpu:0/s fetch !p0 output 0)"};

constexpr ShortPlan kAllToAll = {"all_to_all from rows to columns",
                                 R"(graph @f(%x: i8[2, 2]) -> i8[2, 2] {
  %h = neg %x : i8[2, 2] on {gpu:0, gpu:1} (split 0) -> (split 0)
  %t = copy %h : i8[2, 2] on {gpu:0, gpu:1} (split 0) -> (split 1)
  %y = abs %t : i8[2, 2] on {gpu:0, gpu:1} (split 1) -> (split 1)
  return %y
})",
                                 R"(gpu:0 0 8
       gpu:1 0 8)",
                                 R"(input x i8[2, 2]
       output y i8[2, 2]
       arena gpu:0
         !x0 0 4
         !row0 0 2
         !h0 4 2
         !t0 6 2
       arena gpu:1
         !x1 0 4
         !row1 2 2
         !h1 4 2
         !t1 6 2
       group 0 (gpu:0/s, gpu:1/s))",
                                 R"(gpu:0/s feed -> !x0 input 0
       gpu:0/s kernel %h member 0 (!row0) -> !h0
       gpu:1/s feed -> !x1 input 0
       gpu:1/s kernel %h member 1 (!row1) -> !h1
       gpu:0/s collective %t member 0 !h0 -> !t0 group 0
       gpu:1/s collective %t member 1 !h1 -> !t1 group 0
       gpu:0/s kernel %y member 0 (!t0) -> !h0
       gpu:1/s kernel %y member 1 (!t1) -> !h1
       gpu:0/s fetch !h0 output 0
       gpu:1/s fetch !h1 output 0)"};

constexpr ShortPlan kDepthTwo = {"two steps overlap",
                                 R"(graph @f(%x: i8[2]) -> i8[2] {
  %w = constant i8[2] [1, 2] on gpu:0
  %a = mul %x, %w : i8[2] on gpu:0
  %c = copy %a : i8[2] on gpu:1
  return %c
})",
                                 R"(gpu:0 2 4
       gpu:1 0 2)",
                                 R"(depth 2
       input x i8[2]
       output y i8[2]
       arena gpu:0
         !w persistent 0 2
         !x 0 2
         !a 2 2
       arena gpu:1
         !c 0 2
       persistent
         !w = %w)",
                                 R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x, !w) -> !a
       gpu:0/s record ev0
       gpu:1/s wait ev0
       gpu:1/s copy %c !a -> !c
       gpu:1/s fetch !c output 0)"};

constexpr ShortPlan kUpdate = {"a variable is updated in place",
                               R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %y = mul %x, %w : i8[2] on gpu:0
  %u = add %w, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %y
})",
                               "gpu:0 2 4",
                               R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !w persistent 0 2
         !x 0 2
         !y 2 2
       persistent
         !w = %w)",
                               R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %y (!x, !w) -> !y
       gpu:0/s record ev0
       gpu:0/s kernel %u (!w, !x) -> !w
       gpu:0/out wait ev0
       gpu:0/out fetch !y output 0)"};

constexpr ShortPlan kReplicas = {"a variable on two devices gets one update",
                                 R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w0 = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %w1 = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:1
  %u = add %w0, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  %c = copy %u : i8[2] on gpu:1
  %y = neg %w1 : i8[2] on gpu:1
  update @w = %u
  return %y
})",
                                 R"(gpu:0 2 4
       gpu:1 2 2)",
                                 R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !w0 persistent 0 2
         !x 0 2
       arena gpu:1
         !w1 persistent 0 2
         !y 0 2
       persistent
         !w0 = %w0
         !w1 = %w1)",
                                 R"(gpu:1/s kernel %y (!w1) -> !y
       gpu:1/s record ev0
       gpu:0/s feed -> !x input 0
       gpu:0/s kernel %u (!w0, !x) -> !w0
       gpu:0/s wait ev0
       gpu:0/s copy %c !w0 -> !w1
       gpu:1/s fetch !y output 0)"};

constexpr ShortPlan kDeepUpdate = {"overlapping steps share a variable",
                                   R"(variable @w: i8[2] = i8[2] [1, 2]

graph @f(%x: i8[2]) -> i8[2] {
  %w = variable {dtype = i8, name = "w", shape = [2]} : i8[2] on gpu:0
  %y = mul %x, %w : i8[2] on gpu:0
  %u = add %w, %x : i8[2] on gpu:0 by k {in_place = [0 -> 0]}
  update @w = %u
  return %y
})",
                                   "gpu:0 2 4",
                                   R"(depth 2
       input x i8[2]
       output y i8[2]
       arena gpu:0
         !w persistent 0 2
         !x 0 2
         !y 2 2
       persistent
         !w = %w)",
                                   R"(gpu:0/in feed -> !x input 0
       gpu:0/in record ev0
       gpu:0/s wait ev0
       gpu:0/s kernel %y (!x, !w) -> !y
       gpu:0/s kernel %u (!w, !x) -> !w
       gpu:0/s fetch !y output 0)"};

constexpr ShortPlan kWorkspace = {"two streams share a workspace",
                                  R"(graph @f(%x: i8[2]) -> (i8[2], i8[2]) {
  %a = neg %x : i8[2] on gpu:0 by k {workspace = 2}
  %b = abs %x : i8[2] on gpu:0 by k {workspace = 2}
  return %a, %b
})",
                                  "gpu:0 0 8",
                                  R"(input x i8[2]
       output a i8[2]
       output b i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !b 4 2
         !scratch 6 2)",
                                  R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a workspace !scratch
       gpu:0/s record ev0
       gpu:0/t wait ev0
       gpu:0/t kernel %b (!x) -> !b workspace !scratch
       gpu:0/s fetch !a output 0
       gpu:0/t fetch !b output 1)"};

constexpr ShortPlan kDiamond = {"fork and join over three streams",
                                R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %b = abs %x : i8[2] on gpu:0
  %y = add %a, %b : i8[2] on gpu:0
  return %y
})",
                                "gpu:0 0 6",
                                R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !b 4 2)",
                                R"(gpu:0/r feed -> !x input 0
       gpu:0/r record ev0
       gpu:0/s wait ev0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s record ev1
       gpu:0/t wait ev0
       gpu:0/t kernel %b (!x) -> !b
       gpu:0/t record ev2
       gpu:0/r wait ev1
       gpu:0/r wait ev2
       gpu:0/r kernel %y (!a, !b) -> !x
       gpu:0/r fetch !x output 0)"};

constexpr ShortPlan kOffload = {"a value waits on the host",
                                R"(graph @f(%x: i8[2]) -> i8[2] {
  %a = neg %x : i8[2] on gpu:0
  %host = copy %a : i8[2] on cpu:0
  %b = abs %x : i8[2] on gpu:0
  %back = copy %host : i8[2] on gpu:0
  %y = add %b, %back : i8[2] on gpu:0
  return %y
})",
                                R"(gpu:0 0 6
       cpu:0 0 2)",
                                R"(input x i8[2]
       output y i8[2]
       arena gpu:0
         !x 0 2
         !a 2 2
         !b 2 2
         !back 4 2
       arena cpu:0
         !host 0 2)",
                                R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s record ev0
       gpu:0/out wait ev0
       gpu:0/out copy %host !a -> !host
       gpu:0/out record ev1
       gpu:0/s wait ev1
       gpu:0/s kernel %b (!x) -> !b
       gpu:0/out copy %back !host -> !back
       gpu:0/out record ev2
       gpu:0/s wait ev2
       gpu:0/s kernel %y (!b, !back) -> !x
       gpu:0/s fetch !x output 0)"};

constexpr ShortPlan kHalves = {"one copy in two halves on two streams",
                               R"(graph @f(%x: i8[4]) -> i8[4] {
  %a = neg %x : i8[4] on gpu:0
  %c = copy %a : i8[4] on gpu:1
  %y = abs %c : i8[4] on gpu:1
  return %y
})",
                               R"(gpu:0 0 8
       gpu:1 0 8)",
                               R"(input x i8[4]
       output y i8[4]
       arena gpu:0
         !x 0 4
         !a 4 4
         !low 4 2
         !high 6 2
       arena gpu:1
         !c 0 4
         !clow 0 2
         !chigh 2 2
         !y 4 4)",
                               R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s record ev0
       gpu:0/s copy %c !low -> !clow
       gpu:0/s record ev1
       gpu:1/t wait ev0
       gpu:1/t copy %c !high -> !chigh
       gpu:1/t wait ev1
       gpu:1/t kernel %y (!c) -> !y
       gpu:1/t fetch !y output 0)"};

constexpr ShortPlan kColumns = {"columns of a matrix are copied as blocks",
                                R"(graph @f(%x: i8[2, 4]) -> i8[2, 4] {
  %a = neg %x : i8[2, 4] on gpu:0
  %s = copy %a : i8[2, 4] on {gpu:0, gpu:1} (replicated) -> (split 1)
  %y = abs %s : i8[2, 4] on {gpu:0, gpu:1} (split 1) -> (split 1) by k {in_place = [0 -> 0]}
  return %y
})",
                                R"(gpu:0 0 20
       gpu:1 0 4)",
                                R"(input x i8[2, 4]
       output y i8[2, 4]
       arena gpu:0
         !x 0 8
         !a 8 8
         !left 8 2 x 2 every 4
         !right 10 2 x 2 every 4
         !s0 16 4
       arena gpu:1
         !s1 0 4)",
                                R"(gpu:0/s feed -> !x input 0
       gpu:0/s kernel %a (!x) -> !a
       gpu:0/s record ev0
       gpu:0/s copy %s member 0 !left -> !s0
       gpu:1/s wait ev0
       gpu:1/s copy %s member 1 !right -> !s1
       gpu:0/s kernel %y member 0 (!s0) -> !s0
       gpu:1/s kernel %y member 1 (!s1) -> !s1
       gpu:0/s fetch !s0 output 0
       gpu:1/s fetch !s1 output 0)"};

constexpr ShortPlan kPrograms = {
    "three micro-batches in two slots, by programs",
    R"(graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on gpu:0
  %c = copy %a : i8[1] on gpu:1
  return %c
})",
    R"(gpu:0 0 3
       gpu:1 0 1)",
    R"(input x i8[3]
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
    ""};

}  // namespace

const std::vector<ShortPlan>& BasePlans() {
  static const auto* const plans = new std::vector<ShortPlan>{
      kOneStream,  kTwoStreams, kMlp,       kReuse,         kMicroBatches,
      kOneSlot,    kInPlace,    kViews,     kChannel,       kWideChannel,
      kRendezvous, kAllReduce,  kAllGather, kReduceScatter, kAllToAll,
      kDepthTwo,   kUpdate,     kReplicas,  kDeepUpdate,    kWorkspace,
      kDiamond,    kOffload,    kHalves,    kColumns,       kPrograms,
  };
  return *plans;
}

}  // namespace partita
