// Tests of lowering: plans of small graphs, run serially against eval.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lower.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/text/parser.h"
#include "placement/lower/lower_fixture.h"
#include "placement/lower/memory_shortage.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

Module ModuleOf(const std::string& text) {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// The plan, after it ran like eval.
Plan Check(const std::string& text, int devices,
           const LowerOptions& options = {}) {
  absl::StatusOr<Plan> plan =
      PlanOf(ModuleOf(text), LinkedMachine(devices), options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return Plan();
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status() << "\n" << PrintPlan(*plan);
  const absl::Status runs = RunsLikeEval(ModuleOf(text), *plan);
  EXPECT_TRUE(runs.ok()) << runs;
  return *std::move(plan);
}

int Count(const Plan& plan, Command::Kind kind) {
  int count = 0;
  for (const Command& command : plan.entries[0].programs[0].commands) {
    count += command.kind == kind;
  }
  return count;
}

constexpr char kMlp[] = R"(graph @mlp(%x: f32[2, 8]) -> f32[2, 4] {
  %w1 = constant f32[8] [1, 2, 3, 4, 5, 6, 7, 8] on gpu:0
  %w = reshape %w1 {shape = [8, 1]} : f32[8, 1] on gpu:0
  %a = matmul %x, %w : f32[2, 1] on gpu:0
  %h = relu %a : f32[2, 1] on gpu:0
  %v = constant f32[1, 4] [1, -1, 2, -2]
  %y = matmul %h, %v : f32[2, 4] on gpu:1
  %p = softmax %y {axis = 1} : f32[2, 4] on gpu:1
  return %p
}
)";

TEST(Lower, AnMlpOverTwoDevicesRunsLikeEval) {
  const Plan plan = Check(kMlp, 2);
  EXPECT_EQ(plan.entries[0].streams.size(), 3u);
  EXPECT_EQ(Count(plan, Command::Kind::kWait), 2);
  EXPECT_EQ(Count(plan, Command::Kind::kRecord), 2);
  EXPECT_EQ(Count(plan, Command::Kind::kKernel), 4);  // the reshape is a view
}

TEST(Lower, AChainOfElementwiseOpsNeedsOneBuffer) {
  const Plan plan = Check(R"(graph @f(%x: f32[64]) -> f32[64] {
  %a = relu %x : f32[64] on gpu:0
  %b = neg %a : f32[64] on gpu:0
  %c = exp %b : f32[64] on gpu:0
  return %c
}
)",
                          1);
  EXPECT_EQ(plan.devices[0].step_bytes, 256);
}

TEST(Lower, VariablesExchangeTheirValues) {
  Check(R"(variable @a: f32[2] = f32[2] [1, 2]
variable @b: f32[2] = f32[2] [3, 4]

graph @f() -> f32[2] {
  %a = variable {dtype = f32, name = "a", shape = [2]} : f32[2] on gpu:0
  %b = variable {dtype = f32, name = "b", shape = [2]} : f32[2] on gpu:1
  %y = add %a, %b : f32[2] on gpu:0
  update @a = %b
  update @b = %a
  return %y
}
)",
        2);
}

TEST(Lower, AnUpdateIsMadeInPlace) {
  const Plan plan = Check(R"(variable @w: f32[2] = f32[2] [1, 2]

graph @f(%x: f32[2]) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %y = mul %w, %x : f32[2] on gpu:0
  %n = add %w, %x : f32[2] on gpu:0
  update @w = %n
  return %y
}
)",
                          1);
  EXPECT_EQ(Count(plan, Command::Kind::kCopy), 0);
}

TEST(Lower, OutputsMayBeInputsConstantsAndTheSameValueTwice) {
  Check(
      R"(graph @f(%x: f32[3], %unread: f32[5]) -> (f32[3], f32[2], f32[3], f32[3]) {
  %c = constant f32[2] [1, 2]
  %y = neg %x : f32[3] on gpu:1
  return %x, %c, %y, %y
}
)",
      2);
}

TEST(Lower, EmptyValuesWork) {
  Check(R"(graph @f(%x: f32[0, 3]) -> (f32[0, 3], f32[0, 3]) {
  %y = neg %x : f32[0, 3] on gpu:0
  %z = relu %y : f32[0, 3] on gpu:1
  return %y, %z
}
)",
        2);
}

TEST(Lower, SplitNodesComputeTheirParts) {
  for (int devices : {2, 3}) {
    const std::string set =
        devices == 2 ? "{gpu:0, gpu:1}" : "{gpu:0, gpu:1, gpu:2}";
    Check(
        "graph @f(%x: f32[5, 4]) -> (f32[5, 3], f32[5, 4], f32[3, 5]) {\n"
        "  %w = constant f32[4, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 2]\n"
        "  %y = matmul %x, %w : f32[5, 3] on " +
            set +
            " (replicated, replicated) -> (split 0)\n"
            "  %z = relu %y : f32[5, 3] on " +
            set +
            " (replicated) -> (split 1)\n"
            "  %s = softmax %x {axis = 1} : f32[5, 4] on " +
            set +
            " (replicated) -> (split 0)\n"
            "  %t = transpose %z {perm = [1, 0]} : f32[3, 5] on gpu:0\n"
            "  return %z, %s, %t\n}\n",
        devices);
  }
}

TEST(Lower, ADeviceThatIsTooSmallIsRefusedWithWhatFillsIt) {
  const absl::StatusOr<Plan> plan =
      PlanOf(ModuleOf(kMlp), LinkedMachine(2, 128));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(plan.status().message()),
            "plan @mlp: found 320 B needed on gpu:0 at command 1, 192 B too "
            "much; expected at most 128 B; largest: matmul %a 104 B "
            "(workspace, 1), %x 64 B (live 0..1), %w1 32 B (constant), %a 8 B "
            "(live 1..5); try pins of some layers to a device other than "
            "gpu:0, or a smaller batch");
  const std::optional<MissingBytes> missing = MissingBytesOf(plan.status());
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->device, "gpu:0");
  EXPECT_EQ(missing->bytes, 192);
}

TEST(Lower, TheSameGraphGivesTheSamePlan) {
  const Plan a = Check(kMlp, 2);
  const Plan b = Check(kMlp, 2);
  EXPECT_EQ(PrintPlan(a), PrintPlan(b));
}

}  // namespace
}  // namespace partita
