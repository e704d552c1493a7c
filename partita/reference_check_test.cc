// Steps with the reference's bits, and with others.
// SPDX-License-Identifier: Apache-2.0

#include "partita/reference_check.h"

#include <gtest/gtest.h>

#include <memory>

#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

// Adds x to the variable, and returns its negative.
std::unique_ptr<Session> Adder() {
  auto module = ParseModule(R"(variable @v: f32[2] = f32[2] [10, 20]
graph @f(%x: f32[2]) -> f32[2] {
  %v = variable {dtype = f32, name = "v", shape = [2]} : f32[2]
  %n = add %v, %x : f32[2]
  %y = neg %n : f32[2]
  update @v = %n
  return %y
}
)",
                            "adder", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  auto compiled = Compile(*std::move(module), EqualCpus(1, 1 << 20));
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto session =
      Session::Create(std::make_shared<const Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(
      (*session)->SetInput("x", HostTensor::Of<float>({2}, {1, 2})).ok());
  return *std::move(session);
}

TEST(ReferenceCheck, EachStepHasTheBitsOfItsOwnReference) {
  const auto session = Adder();
  for (int64_t step = 1; step <= 2; ++step) {
    const auto check = ReferenceCheck::Of(*session);
    ASSERT_TRUE(check.ok()) << check.status();
    ASSERT_TRUE(session->Run().ok());
    EXPECT_TRUE(check->Compare(step).ok()) << step;
  }
}

TEST(ReferenceCheck, AnOutputWithOtherBitsIsAnError) {
  const auto session = Adder();
  const auto first = ReferenceCheck::Of(*session);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(session->Run().ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(first->Compare(2),
            absl::InternalError("output y of step 2: found other bits than the "
                                "plan's reference has; expected equal"));
}

TEST(ReferenceCheck, AVariableWithOtherBitsIsAnError) {
  const auto session = Adder();
  const auto check = ReferenceCheck::Of(*session);
  ASSERT_TRUE(check.ok()) << check.status();
  ASSERT_TRUE(session->Run().ok());
  ASSERT_TRUE(
      session->WriteVariable("v", HostTensor::Of<float>({2}, {11, 23})).ok());
  EXPECT_EQ(check->Compare(1),
            absl::InternalError("variable @v of step 1: found other bits than "
                                "the plan's reference has; expected equal"));
}

}  // namespace
}  // namespace partita
