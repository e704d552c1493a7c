// Parses the plan.
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/two_cpu_plan.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "runtime/plan/plan_text.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

constexpr absl::string_view kPlan =
    R"(graph @f(%x: f32[2] on cpu:0) -> f32[2] {
  %a = neg %x : f32[2] on cpu:0
  %c = copy %a : f32[2] on cpu:1
  %d = abs %c : f32[2] on cpu:1
  return %d
}
plan @f {
  device cpu:0 cpu memory 64
    arena persistent 0 step 16
  device cpu:1 cpu memory 64
    arena persistent 0 step 16
  entry @f of @f events 1 {
    input x f32[2]
    output d f32[2]
    arena cpu:0
      !x 0 8
      !a 8 8
    arena cpu:1
      !c 0 8
      !d 8 8
    stream cpu:0/compute
      0 feed -> !x input 0
      1 kernel %a (!x) -> !a
      2 record ev0
    stream cpu:1/compute
      3 wait ev0
      4 copy %c !a -> !c
      5 kernel %d (!c) -> !d
      6 fetch !d output 0
  }
}
)";

}  // namespace

Plan TwoCpuPlan() {
  absl::StatusOr<Plan> plan = ParsePlan(kPlan, "plan", OpSet::BuiltIn());
  ExpectFuzz(plan.ok(), "the target's own plan", plan.status().ToString());
  return *std::move(plan);
}

}  // namespace partita
