// Hand-written plans.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/testing/example_plans.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "graph/ops/op_set.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

constexpr char kEveryConstruct[] =
    R"(variable @w: f32[2] trainable = f32[2] [1, 2]

graph @f(%x: f32[2] on cpu:0) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on cpu:0
  %c = constant f32[2] [3, 4] on cpu:0
  %h = copy %x : f32[2] on gpu:1
  %y = copy %h : f32[2] on cpu:0
  update @w = %y
  return %y
}

plan @f {
  device cpu:0 cpu threads 2 isa "avx512" memory 4096 alignment 64
    arena persistent 80 step 256
    rates bandwidth 2.5e+10 launch 2e-06 f32 1e+12 bf16 2e+12
  device gpu:1 cuda threads 1 isa "" memory 2048 alignment 256
    arena persistent 0 step 64
  code "x86-64-avx512" bytes 1234 #0123456789abcdef0123456789abcdef
  entry @f of @f depth 2 events 2 {
    input x f32[2]
    output y f32[2]
    arena cpu:0
      !w  persistent  0  8
      !c  persistent  64  8
      !x  0  4 x 2 every 16                     // live 0..1
      !y  64  8                                 // live 6..6
    arena gpu:1
      !h  0  8                                  // live 1..5
    persistent
      !w = %w initial f32[2] #3ddb0cb5f55ef4a83a2f9cce8aa0a0c2
      !c = %c initial none
    stream cpu:0/compute
      0  feed -> !x input 0                     // x
      6  fetch !y output 0                      // y
    stream cpu:0/copy:gpu:1
      1  copy %h !x -> !h
      2  record ev0
    stream gpu:1/compute
      3  wait ev0                               // for 2 on cpu:0/copy:gpu:1
      4  collective %h rank 1 batch 3 !h -> !h group 0  // copy
      5  send %y !h channel 0
    group 0 (cpu:0/compute, gpu:1/compute)
    channel 0 gpu:1/compute -> cpu:0/compute capacity 1 slots (!y)
  }
  entry @g depth 1 events 4 {
    arena cpu:0
      !a  0  8
      !"b c"  8  8
      !d  16  8
    stream cpu:0/compute
    stream cpu:0/copy
    program fwd buffers 2 events 1 {
      stream cpu:0/compute
        0  kernel ($0, !a) -> ($1, !d) workspace !"b c"
        2  wait slot0                           // for 1 on cpu:0/copy
      stream cpu:0/copy
        1  record slot0
        3  recv -> !a
    }
    program done {
    }
    schedule
      invoke fwd buffers (!a, !d) events (ev0)  // invocation 0: 0..3 of the step
      invoke fwd batch 1 buffers (!d, !a) events (ev3)  // invocation 1: 4..7 of the step
      invoke done                               // invocation 2
  }
  certificate "checker 1" of "0123"
    proved "no race"
    assumed "kernels touch \"declared\" ranges only"
}
)";

LiteralId AddNumbers(LiteralPool& pool, int count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return pool.Add(HostTensor::Of<float>({count}, values));
}

PlanNotes Notes(NodeId node) {
  PlanNotes notes;
  notes.machine_json = "{}";
  notes.summary = "all on one device";
  notes.entries.resize(2);
  notes.entries[0].nodes.push_back({node, "follows %x", 2e-6});
  notes.entries[0].predicted.push_back({0, 1e-6});
  notes.entries[0].step_seconds = 3e-6;
  notes.entries[0].bound_seconds = 2e-6;
  notes.entries[0].bound_by = "load of cpu:0";
  return notes;
}

}  // namespace

std::string EveryConstruct() { return kEveryConstruct; }

Plan EveryConstructWithBytes() {
  // Drops the literal and the native code that the text gives by hash only.
  const std::string text = absl::StrReplaceAll(
      kEveryConstruct,
      {{" initial f32[2] #3ddb0cb5f55ef4a83a2f9cce8aa0a0c2", ""},
       {"  code \"x86-64-avx512\" bytes 1234 "
        "#0123456789abcdef0123456789abcdef\n",
        ""}});
  Plan plan = *ParsePlan(text, "example", OpSet::BuiltIn());
  LiteralPool& pool = plan.module.literals();
  Entry& entry = plan.entries[0];
  Graph& graph = *plan.module.FindFunction("f");
  const NodeId constant = graph.order()[1];
  graph.node(constant).attributes.Set("value", AddNumbers(pool, 1500, 0.5f));
  graph.InferAgain(constant).IgnoreError();
  entry.persistent[1].initial = AddNumbers(pool, 20, 7);
  CodeObject code{"x86-64", {}};
  for (int i = 0; i < 100; ++i) code.bytes.push_back(std::byte(i));
  plan.code_objects.push_back(std::move(code));
  plan.notes = Notes(graph.order()[2]);
  return plan;
}

}  // namespace partita
