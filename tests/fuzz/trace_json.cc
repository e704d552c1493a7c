// Fuzz target: any bytes are safe to read as a measured trace, and an accepted
// one has a span with a start and an end for every command of the plan.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "runtime/plan/plan_text.h"
#include "tests/fuzz/expect.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {
namespace {

// The plan of the traces: two devices, three streams' worth of names.
constexpr absl::string_view kPlan =
    R"(graph @f(%x: f32[2] on cpu:0) -> f32[2] {
  %a = neg %x : f32[2] on cpu:0
  %c = copy %a : f32[2] on cpu:1
  return %c
}
plan @f {
  device cpu:0 cpu memory 64
    arena persistent 0 step 16
  device cpu:1 cpu memory 64
    arena persistent 0 step 8
  entry @f of @f events 1 {
    input x f32[2]
    output c f32[2]
    arena cpu:0
      !x 0 8
      !a 8 8
    arena cpu:1
      !c 0 8
    stream cpu:0/compute
      0 feed -> !x input 0
      1 kernel %a (!x) -> !a
      2 record ev0
    stream cpu:1/compute
      3 wait ev0
      4 copy %c !a -> !c
      5 fetch !c output 0
  }
}
)";

PlanView View() {
  const absl::StatusOr<Plan> plan = ParsePlan(kPlan, "plan", OpSet::BuiltIn());
  ExpectFuzz(plan.ok(), "the target's own plan", plan.status().ToString());
  absl::StatusOr<PlanView> view = ReadPlanView(*plan);
  ExpectFuzz(view.ok(), "the target's own view", view.status().ToString());
  return *std::move(view);
}

}  // namespace
}  // namespace partita

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  static const PlanView& view = *new PlanView(View());
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<MeasuredTrace> trace =
      ReadMeasuredTrace(text, "input", view);
  if (!trace.ok()) return 0;
  const ViewedEntry& entry = view.entries[trace->entry];
  ExpectFuzz(trace->commands.size() == entry.commands.size(),
             "a command without a span");
  for (const auto& [start, end] : trace->commands) {
    ExpectFuzz(start >= 0 && start <= end && end <= trace->end,
               "a span outside the step");
  }
  return 0;
}
