// Fuzz target: the checker is safe on any plan with valid graphs, and no run of
// a plan that it proves fails on the oracle's machines.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "graph/verifier.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"
#include "runtime/plan/plan_text.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

// The machines store every byte and every command of a few steps.
constexpr int64_t kMostBytes = 1 << 12;
constexpr size_t kMostCommands = 60;
constexpr int kMostDepth = 3;

bool SmallEnough(const Plan& plan) {
  for (const PlanDevice& device : plan.devices) {
    if (device.persistent_bytes + kMostDepth * device.step_bytes > kMostBytes) {
      return false;
    }
  }
  for (const Entry& entry : plan.entries) {
    const auto commands = Expand(entry);
    if (!commands.ok() || commands->size() > kMostCommands ||
        entry.depth > kMostDepth) {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace partita

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  const absl::StatusOr<Plan> plan = ParsePlan(text, "input", OpSet::BuiltIn());
  if (!plan.ok() || !VerifyModule(plan->module).ok()) return 0;
  if (!CheckPlan(*plan).ok() || !SmallEnough(*plan)) return 0;
  for (size_t e = 0; e < plan->entries.size(); ++e) {
    const Verdict verdict = Judge(*plan, static_cast<int>(e),
                                  {.max_states = 500, .random_runs = 10});
    ExpectFuzz(!verdict.harmful(), "a plan that was proved does harm",
               verdict.harm);
  }
  return 0;
}
