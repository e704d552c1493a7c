// Tests lowering of small graphs: plans run serially against eval.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lower.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "placement/lower/delayed_all_reduces.h"
#include "placement/lower/lower_fixture.h"
#include "placement/lower/refusal.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// The plan, after the checker accepted it and it ran like eval.
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
  EXPECT_EQ(PrintPlan(plan),
            R"(graph @mlp(%x: f32[2, 8] on gpu:0) -> f32[2, 4] {
  %w1 = constant f32[8] [1, 2, 3, 4, 5, 6, 7, 8] on gpu:0
  %w = reshape %w1 {shape = [8, 1]} : f32[8, 1] on gpu:0 by test.eval {arithmetic = "test"}
  %a = matmul %x, %w : f32[2, 1] on gpu:0 by test.eval {workspace = 104, arithmetic = "test"}
  %h = relu %a : f32[2, 1] on gpu:0 by test.eval {in_place = [0 -> 0], arithmetic = "test"}
  %h.gpu1 = copy %h : f32[2, 1] on gpu:1
  %v = constant f32[1, 4] [1, -1, 2, -2] on gpu:1
  %y = matmul %h.gpu1, %v : f32[2, 4] on gpu:1 by test.eval {workspace = 116, arithmetic = "test"}
  %p = softmax %y {axis = 1} : f32[2, 4] on gpu:1
      by test.eval {workspace = 116, arithmetic = "test"}
  return %p
}

plan @mlp {
  device gpu:0 cpu threads 1 isa "" memory 1073741824 alignment 64
    arena persistent 64 step 256
  device gpu:1 cpu threads 1 isa "" memory 1073741824 alignment 64
    arena persistent 64 step 256
  entry @mlp of @mlp depth 1 events 2 {
    input x f32[2, 8]
    output p f32[2, 4]
    arena gpu:0
      !w1  persistent  0  32
      !w  persistent  0  32
      !x  128  64                               // live 0..1
      !a  192  8                                // live 1..2
      !a.workspace  0  104                      // live 1..1
      !h  192  8                                // live 2..5
    arena gpu:1
      !v  persistent  0  16
      !h.gpu1  192  8                           // live 5..8
      !y  128  32                               // live 8..9
      !y.workspace  0  116                      // live 8..8
      !p  192  32                               // live 9..10
      !p.workspace  0  116                      // live 9..9
    persistent
      !w1 = %w1 initial f32[8] #bc607dbcbbf1c24fdc161563a5284856
      !v = %v initial f32[1, 4] #de6b578939bffb7a62c5e50bfb7da03a
    stream gpu:0/compute
      0   feed -> !x input 0                    // x
      1   kernel %a (!x, !w) -> !a workspace !a.workspace  // test.eval
      2   kernel %h (!a) -> !h                  // test.eval
      3   record ev0
    stream gpu:0/copy:gpu:1
      4   wait ev0                              // for 3 on gpu:0/compute
      5   copy %h.gpu1 !h -> !h.gpu1
      6   record ev1
    stream gpu:1/compute
      7   wait ev1                              // for 6 on gpu:0/copy:gpu:1
      8   kernel %y (!h.gpu1, !v) -> !y workspace !y.workspace  // test.eval
      9   kernel %p (!y) -> !p workspace !p.workspace  // test.eval
      10  fetch !p output 0                     // p
  }
}
)");
}

TEST(Lower, AConvNetReusesTheBytesOfDeadValues) {
  const Plan plan = Check(R"(graph @net(%x: f32[1, 2, 6, 6]) -> f32[1, 2] {
  %w = constant f32[2, 1, 1, 1] [1, -1]
  %c = conv %x, %w {groups = 2} : f32[1, 2, 6, 6] on gpu:0
  %r = relu %c : f32[1, 2, 6, 6] on gpu:0
  %s = add %r, %x : f32[1, 2, 6, 6] on gpu:0
  %p = max_pool %s {kernel = [2, 2], strides = [2, 2]} : f32[1, 2, 3, 3] on gpu:0
  %m = reduce_max %p {axes = [2, 3], keep_dims = false} : f32[1, 2] on gpu:0
  %y = softmax %m {axis = 1} : f32[1, 2] on gpu:0
  return %y
}
)",
                          1);
  EXPECT_EQ(PrintPlan(plan),
            R"(graph @net(%x: f32[1, 2, 6, 6] on gpu:0) -> f32[1, 2] {
  %w = constant f32[2, 1, 1, 1] [1, -1] on gpu:0
  %c = conv %x, %w {groups = 2} : f32[1, 2, 6, 6] on gpu:0
      by test.eval {workspace = 244, arithmetic = "test"}
  %r = relu %c : f32[1, 2, 6, 6] on gpu:0 by test.eval {in_place = [0 -> 0], arithmetic = "test"}
  %s = add %r, %x : f32[1, 2, 6, 6] on gpu:0
      by test.eval {in_place = [0 -> 0, 1 -> 0], arithmetic = "test"}
  %p = max_pool %s {kernel = [2, 2], strides = [2, 2]} : f32[1, 2, 3, 3] on gpu:0
      by test.eval {workspace = 136, arithmetic = "test"}
  %m = reduce_max %p {axes = [2, 3], keep_dims = false} : f32[1, 2] on gpu:0
      by test.eval {workspace = 104, arithmetic = "test"}
  %y = softmax %m {axis = 1} : f32[1, 2] on gpu:0
      by test.eval {workspace = 104, arithmetic = "test"}
  return %y
}

plan @net {
  device gpu:0 cpu threads 1 isa "" memory 1073741824 alignment 64
    arena persistent 64 step 896
  entry @net of @net depth 1 events 0 {
    input x f32[1, 2, 6, 6]
    output y f32[1, 2]
    arena gpu:0
      !w  persistent  0  8
      !x  0  288                                // live 0..3
      !c  320  288                              // live 1..2
      !c.workspace  640  244                    // live 1..1
      !r  320  288                              // live 2..3
      !s  320  288                              // live 3..4
      !p  192  72                               // live 4..5
      !p.workspace  0  136                      // live 4..4
      !m  128  8                                // live 5..6
      !m.workspace  0  104                      // live 5..5
      !y  192  8                                // live 6..7
      !y.workspace  0  104                      // live 6..6
    persistent
      !w = %w initial f32[2, 1, 1, 1] #4062566a8c9b128dd7c35a05ac825b6e
    stream gpu:0/compute
      0  feed -> !x input 0                     // x
      1  kernel %c (!x, !w) -> !c workspace !c.workspace  // test.eval
      2  kernel %r (!c) -> !r                   // test.eval
      3  kernel %s (!r, !x) -> !s               // test.eval
      4  kernel %p (!s) -> !p workspace !p.workspace  // test.eval
      5  kernel %m (!p) -> !m workspace !m.workspace  // test.eval
      6  kernel %y (!m) -> !y workspace !y.workspace  // test.eval
      7  fetch !y output 0                      // y
  }
}
)");
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

TEST(Lower, VariablesSwapTheirValues) {
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

TEST(Lower, OneKernelUpdatesTwoVariablesInPlace) {
  const Plan plan = Check(R"(variable @w: f32[2] = f32[2] [1, 2]
variable @m: f32[2] = f32[2] [3, 4]
graph @train(%g: f32[2]) -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2] on gpu:0
  %m = variable {dtype = f32, name = "m", shape = [2]} : f32[2] on gpu:0
  %n, %s = fused %m, %g, %w @body(%m: f32[2], %g: f32[2], %w: f32[2]) {
    %s = add %m, %g : f32[2]
    %n = sub %w, %s : f32[2]
    return %n, %s
  } : f32[2], f32[2] on gpu:0
  update @w = %n
  update @m = %s
  return %g
}
)",
                          1);
  EXPECT_EQ(Count(plan, Command::Kind::kCopy), 0);
}

// One operand can hold only one of the results.
TEST(Lower, TwoResultsDoNotReuseOneOperand) {
  const Plan plan = Check(R"(graph @f(%x: f32[64]) -> f32[64] {
  %a = neg %x : f32[64] on gpu:0
  %b, %c = fused %a @body(%a: f32[64]) {
    %b = neg %a : f32[64]
    %c = relu %a : f32[64]
    return %b, %c
  } : f32[64], f32[64] on gpu:0
  %y = sub %b, %c : f32[64] on gpu:0
  return %y
}
)",
                          1);
  EXPECT_EQ(plan.devices[0].step_bytes, 2 * 256);
  // The same if nothing reads the results.
  Check(R"(graph @f(%x: f32[64]) -> f32[64] {
  %a = neg %x : f32[64] on gpu:0
  %b, %c = fused %a @body(%a: f32[64]) {
    %b = neg %a : f32[64]
    %c = relu %a : f32[64]
    return %b, %c
  } : f32[64], f32[64] on gpu:0
  return %x
}
)",
        1);
}

TEST(Lower, OutputsMayBeInputsConstantsAndTheSameValueTwice) {
  Check(
      R"(graph @f(%x: f32[3], %unread: f32[5]) -> (f32[3], f32[2], f32[3], f32[3]) {
  %c = constant f32[2] [1, 2]
  %y = neg %x : f32[3] on gpu:1
  return %x, %c, %y, %y as z
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

TEST(Lower, EachRankOfASplitNodeComputesItsShard) {
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
            "placement @mlp: found 320 B needed on gpu:0 at matmul %a, 192 B "
            "too much; expected at most 128 B; largest: %a 104 B (workspace), "
            "%x 64 B (input), %w1 32 B (constant), %a 8 B (activation)");
  const std::optional<MemoryShortage> shortage = ShortageOf(plan.status());
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->device, "gpu:0");
  EXPECT_EQ(shortage->missing(), 192);
}

// The count of a placed module is what its plan takes.
TEST(Lower, TheCountIsThatOfThePlan) {
  const Machine machine = LinkedMachine(3);
  for (int depth : {1, 2}) {
    const LowerOptions options{.depth = depth};
    const absl::StatusOr<Plan> plan = PlanOf(ModuleOf(kMlp), machine, options);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const Lowering lowering(machine, options);
    absl::StatusOr<CountedFunction> counted =
        lowering.CountLiveBytes(plan->module.main(), 0);
    ASSERT_TRUE(counted.ok()) << counted.status();
    const auto figures = lowering.Figures({&*counted});
    ASSERT_TRUE(figures.ok()) << figures.status();
    const std::vector<int64_t>& needed = figures->needed_bytes;
    ASSERT_EQ(needed.size(), 3u);
    for (const PlanDevice& device : plan->devices) {
      const int d = device.traits.name == "gpu:0" ? 0 : 1;
      EXPECT_EQ(needed[d], device.persistent_bytes + depth * device.step_bytes);
    }
    EXPECT_EQ(needed[2], 0);  // not used, and not in the plan
    EXPECT_EQ(plan->devices.size(), 2u);
  }
}

// Two devices whose collectives have streams of their own.
Machine Gpus(int64_t memory) {
  Machine machine = LinkedMachine(2, memory);
  for (MachineDevice& device : machine.devices) {
    device.traits.kind = DeviceKind::kCuda;
  }
  return machine;
}

// A small draft that takes more than the fast one does not count.
TEST(Lower, TheDraftThatTakesLessCounts) {
  const absl::StatusOr<Plan> plan = PlanOf(ModuleOf(R"(
graph @f(%x: f32[4, 8]) -> f32[8] {
  %s = reduce_sum %x {axes = [0], keep_dims = false} : f32[8]
      on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %y = relu %s : f32[8] on {gpu:0, gpu:1}
  return %y
}
)"),
                                           Gpus(int64_t{1} << 30));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Machine too_small = Gpus(1);
  const Lowering lowering(too_small, {});
  absl::StatusOr<CountedFunction> counted =
      lowering.CountLiveBytes(plan->module.main(), 0);
  ASSERT_TRUE(counted.ok()) << counted.status();
  ASSERT_TRUE(HasOverlappedCollectives(counted->fast.draft));
  counted->small = counted->fast;
  const auto needed = [&](int64_t more) {
    for (DeviceStorages& device : counted->small->storages) {
      device.bound += more;
    }
    const auto figures = lowering.Figures({&*counted});
    EXPECT_TRUE(figures.ok()) << figures.status();
    return figures.ok() ? figures->needed_bytes[0] : 0;
  };
  const int64_t equal = needed(0);
  EXPECT_EQ(needed(64), equal);
  EXPECT_EQ(needed(-128), equal - 64);
}

TEST(Lower, TheSameGraphGivesTheSamePlan) {
  const Plan a = Check(kMlp, 2);
  const Plan b = Check(kMlp, 2);
  EXPECT_EQ(PrintPlan(a), PrintPlan(b));
}

}  // namespace
}  // namespace partita
