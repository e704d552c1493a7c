// Fuzz target: any bytes are safe to read as a measured trace, and an accepted
// one has a span with a start and an end for every command of the plan.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/two_cpu_plan.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/plan_view.h"

namespace partita {
namespace {

PlanView View() {
  absl::StatusOr<PlanView> view = ReadPlanView(TwoCpuPlan());
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
