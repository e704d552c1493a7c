// Tests which library binds a node, and with how much scratch.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/kernel_binder.h"

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/test_kernels.h"

namespace partita {
namespace {

// Refuses every node, like a library without a matching kernel.
class EmptyLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "empty"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest&) const override {
    return absl::UnimplementedError("found nothing");
  }
};

class KernelBinderTest : public testing::Test {
 protected:
  KernelBinderTest() {
    const ValueId x = builder_.Input("x", {DType::kF32, {3}, {}});
    const ValueId y = builder_.Node(kRelu, {x}, "y");
    node_ = builder_.graph().value(y).defining_node;
    traits_.name = "tested:0";
  }
  BindRequest Request() {
    return {.node = builder_.graph().view(node_),
            .binding = &binding_,
            .device = &traits_};
  }
  absl::StatusOr<BoundKernel> Bind(KernelLibraries libraries,
                                   bool any_host_kernel) {
    return BindKernel(Request(), libraries, any_host_kernel);
  }

  PlanBuilder builder_{1};
  NodeId node_;
  KernelBinding binding_ = {.kernel = "test.eval", .workspace = 100};
  DeviceTraits traits_;
  TestLibrary library_;
  EmptyLibrary empty_;
};

TEST_F(KernelBinderTest, TheLibraryThatThePlanNamesComesFirst) {
  TestLibrary other;
  auto kernel = Bind({&empty_, &library_, &other}, false);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->outside_scratch, 0);
  EXPECT_EQ(library_.bound, 1);
  EXPECT_EQ(other.bound, 0);
}

TEST_F(KernelBinderTest, AnotherLibraryTakesANodeThatTheFirstCannot) {
  binding_.kernel = "empty.relu";
  EXPECT_TRUE(Bind({&empty_, &library_}, false).ok());
  binding_.kernel = "absent.relu";
  EXPECT_TRUE(Bind({&empty_, &library_}, false).ok());
}

TEST_F(KernelBinderTest,
       AReplacementSeesNoOperandInAResultsPlaceUnlessGranted) {
  std::vector<bool> aliased;
  library_.on_pointers = [&](const LaunchArgs& args) {
    aliased.push_back(args.operands[0] == args.results[0]);
  };
  binding_.in_place = {{0, 0}};
  binding_.arithmetics = ParseArithmetics("test 2");
  // Another library's kernel, and the plan's with another arithmetic.
  for (const char* kernel : {"absent.relu", "test.eval"}) {
    binding_.kernel = kernel;
    for (bool in_place : {true, false}) {
      library_.in_place = in_place;
      auto bound = Bind({&library_}, false);
      ASSERT_TRUE(bound.ok()) << bound.status();
      std::vector<float> x = {-1, 2, -3};
      void* bytes = x.data();
      ASSERT_TRUE(
          bound->kernel
              ->Launch({.operands = {&bytes, 1}, .results = {&bytes, 1}})
              .ok());
      EXPECT_EQ(x, (std::vector<float>{0, 2, 0}));
    }
  }
  EXPECT_EQ(aliased, (std::vector<bool>{true, false, true, false}));
}

TEST_F(KernelBinderTest, AnInPlacePairThatThePlansKernelForbidsIsRefused) {
  binding_.in_place = {{0, 0}};
  EXPECT_TRUE(Bind({&library_}, false).ok());
  library_.in_place = false;
  for (bool any_host_kernel : {false, true}) {
    const absl::Status status =
        Bind({&library_, &empty_}, any_host_kernel).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(),
              "relu %y: found in_place = [0 -> 0] in the plan; expected some "
              "of [], which test.eval allows; compile the plan again");
  }
}

TEST_F(KernelBinderTest, TooSmallABudgetIsRefusedWithBothNumbers) {
  library_.workspace = 101;
  const absl::Status status = Bind({&library_, &empty_}, false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "relu %y: found no kernel for `test.eval` on tested:0; asked: test "
            "(found 101 bytes needed; expected at most 100)");
}

TEST_F(KernelBinderTest, AnEmulatorHasItsScratchOutsideTheArena) {
  binding_.kernel = "cost_only.relu";
  traits_.kind = DeviceKind::kCuda;
  library_.workspace = 1 << 20;
  auto kernel = Bind({&empty_, &library_}, true);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_GE(kernel->outside_scratch, 1 << 20);
}

TEST_F(KernelBinderTest, AnEmulatorServesVirtualDevicesOnly) {
  traits_.kind = DeviceKind::kCuda;
  EXPECT_EQ(Bind({&library_, &empty_}, false).status().message(),
            "relu %y: found no kernel for `test.eval` on tested:0; asked: test "
            "(found a GPU; expected a CPU); empty (found nothing)");
}

TEST_F(KernelBinderTest, TheKernelThatThePlanNamesIsNotAReplacement) {
  for (const char* kernel : {"test.eval", "test"}) {
    for (const char* arithmetic : {"", "test", "other | test"}) {
      binding_.kernel = kernel;
      binding_.arithmetics = ParseArithmetics(arithmetic);
      auto bound = Bind({&library_}, false);
      ASSERT_TRUE(bound.ok()) << bound.status();
      EXPECT_FALSE(ReplacementOf(Request(), *bound).has_value())
          << kernel << " " << arithmetic;
    }
  }
}

TEST_F(KernelBinderTest, AnotherKernelOrArithmeticIsReportedAsAReplacement) {
  for (const char* kernel : {"absent.relu", "test.eval"}) {
    binding_.kernel = kernel;
    binding_.arithmetics = ParseArithmetics("test 2");
    auto bound = Bind({&library_}, false);
    ASSERT_TRUE(bound.ok()) << bound.status();
    const auto replaced = ReplacementOf(Request(), *bound);
    ASSERT_TRUE(replaced.has_value());
    EXPECT_EQ(replaced->planned, kernel);
    EXPECT_EQ(replaced->planned_arithmetic, "test 2");
    EXPECT_EQ(replaced->bound, "test.eval");
    EXPECT_EQ(replaced->bound_arithmetic, "test");
  }
}

TEST_F(KernelBinderTest, AnEmulatorOfAGpuIsNotAReplacement) {
  binding_.kernel = "cost_only.relu";
  traits_.kind = DeviceKind::kCuda;
  auto bound = Bind({&library_}, true);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_FALSE(ReplacementOf(Request(), *bound).has_value());
}

TEST(ReplacedKernelsTest, CommandsOfEqualPairsAreAdded) {
  std::vector<ReplacedKernel> all;
  const ReplacedKernel one = {"a.conv", "a 1", "b.conv", "b 1", 2};
  const ReplacedKernel two = {"a.conv", "a 1", "b.conv", "b 2", 1};
  AddReplacedKernels({one, two}, all);
  AddReplacedKernels({one}, all);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].commands, 4);
  EXPECT_EQ(all[1].commands, 1);
}

}  // namespace
}  // namespace partita
