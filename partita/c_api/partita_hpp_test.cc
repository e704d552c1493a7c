// partita.hpp: values, errors and ownership in C++.
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "partita/c_api/testing/sample_plans.h"
#include "partita/partita.hpp"

namespace {

using partita::c_api::PlanBytes;
using partita::c_api::PlanOf;

partita::v1::Plan Load(const char* text) {
  const std::string bytes = PlanBytes(PlanOf(text));
  return partita::v1::Plan::LoadMemory(bytes.data(), bytes.size());
}

partita::v1::Session Virtual(const partita::v1::Plan& plan) {
  partita_session_options options = partita_session_options_default();
  options.devices = PARTITA_DEVICES_VIRTUAL;
  return partita::v1::Session(plan, options);
}

// The code and the message of a call that must throw.
template <typename Function>
std::string Thrown(Function call, partita_code code) {
  try {
    call();
  } catch (const partita::v1::Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(PartitaHppTest, StepsReadInputsAndUpdateVariables) {
  partita::v1::Session session = Virtual(Load(partita::kCounter));
  session.SetInput("x", std::vector<float>{1, 2});
  session.Run();
  EXPECT_EQ(session.Output<float>("n"), (std::vector<float>{11, 22}));
  session.Wait(session.Submit());
  EXPECT_EQ(session.Output<float>("n"), (std::vector<float>{12, 24}));
  session.Restore();
  std::vector<float> x = {3, 4}, n(2);
  session.BindInput("x", x.data(), x.size());
  session.BindOutput("n", n.data(), n.size());
  session.Run();
  EXPECT_EQ(n, (std::vector<float>{13, 24}));
}

TEST(PartitaHppTest, PortsVariablesAndDevicesAreListed) {
  const partita::v1::Session counter = Virtual(Load(partita::kCounter));
  EXPECT_EQ(counter.Inputs(), std::vector<std::string>{"x"});
  EXPECT_EQ(counter.Outputs(), std::vector<std::string>{"n"});
  EXPECT_EQ(counter.Variables(), std::vector<std::string>{"v"});
  EXPECT_EQ(counter.Depth(), 1);
  const partita_tensor type = counter.VariableType("v");
  EXPECT_EQ(type.dtype, PARTITA_F32);
  EXPECT_EQ(type.bytes, 2 * sizeof(float));
  const partita::v1::Session two = Virtual(Load(partita::kTwoDevices));
  EXPECT_EQ(two.Devices(), (std::vector<std::string>{"cpu:0", "cpu:1"}));
  EXPECT_EQ(two.Variables(), std::vector<std::string>{});
}

TEST(PartitaHppTest, VariablesAreReadAndWritten) {
  partita::v1::Session session = Virtual(Load(partita::kCounter));
  EXPECT_EQ(session.ReadVariable<float>("v"), (std::vector<float>{10, 20}));
  session.WriteVariable("v", std::vector<float>{1, 2});
  session.SetInput("x", std::vector<float>{1, 1});
  session.Run();
  std::vector<float> values(2);
  partita_tensor tensor = session.VariableType("v");
  tensor.data = values.data();
  session.ReadVariable("v", tensor);
  EXPECT_EQ(values, (std::vector<float>{2, 3}));
  values = {5, 6};
  session.WriteVariable("v", tensor);
  EXPECT_EQ(session.ReadVariable<float>("v"), (std::vector<float>{5, 6}));
  session.Restore();
  EXPECT_EQ(session.ReadVariable<float>("v"), (std::vector<float>{10, 20}));
  EXPECT_EQ(Thrown([&] { session.ReadVariable<double>("v"); },
                   PARTITA_INVALID_ARGUMENT),
            "INVALID_ARGUMENT: v: found elements of f64; expected f32");
  EXPECT_EQ(Thrown([&] { session.WriteVariable("v", std::vector<float>(1)); },
                   PARTITA_INVALID_ARGUMENT),
            "INVALID_ARGUMENT: v: found 1 elements; expected 2");
  EXPECT_EQ(Thrown([&] { session.VariableType("w"); }, PARTITA_NOT_FOUND),
            "NOT_FOUND: found no variable w; expected one of v");
  const partita::v1::Session none = Virtual(Load(partita::kTwoDevices));
  EXPECT_EQ(Thrown([&] { none.VariableType("w"); }, PARTITA_NOT_FOUND),
            "NOT_FOUND: found no variable w; expected none: the plan has no "
            "variable");
}

TEST(PartitaHppTest, TensorsOfAnyTypeAreBoundAndReturned) {
  partita::v1::Session session = Virtual(Load(partita::kCounter));
  std::vector<float> x = {1, 2}, n(2);
  partita_tensor input = session.InputType("x");
  input.data = x.data();
  session.BindInput("x", input);
  session.Run();
  const partita_tensor own = session.OutputTensor("n");
  EXPECT_EQ(static_cast<const float*>(own.data)[1], 22);
  partita_tensor output = session.OutputType("n");
  output.data = n.data();
  session.BindOutput("n", output);
  session.Run();
  EXPECT_EQ(n, (std::vector<float>{12, 24}));
}

TEST(PartitaHppTest, MemoryIsReportedByDevice) {
  const partita::v1::Session session = Virtual(Load(partita::kTwoDevices));
  const partita_memory memory = session.Memory("cpu:1");
  EXPECT_EQ(memory.arena, memory.persistent + memory.depth * memory.step);
  EXPECT_GT(memory.arena, 0);
  EXPECT_EQ(Thrown([&] { session.Memory("gpu:0"); }, PARTITA_NOT_FOUND),
            "NOT_FOUND: found no device gpu:0; expected one of cpu:0, cpu:1");
}

TEST(PartitaHppTest, ARequestEndsStepsThatWereGivenIt) {
  partita::v1::Session session = Virtual(Load(partita::kCounter));
  session.SetInput("x", std::vector<float>{1, 2});
  partita::v1::Cancel cancel;
  session.Run(cancel);  // nothing has been requested
  EXPECT_EQ(session.Output<float>("n"), (std::vector<float>{11, 22}));
  cancel.Request();
  EXPECT_TRUE(absl::StrContains(
      Thrown([&] { session.Run(cancel); }, PARTITA_CANCELLED), "cancelled"));
  session.Restore();
  const uint64_t step = session.Submit(cancel);
  EXPECT_TRUE(absl::StrContains(
      Thrown([&] { session.Wait(step); }, PARTITA_CANCELLED), "cancelled"));
}

TEST(PartitaHppTest, EntriesAreUsedByName) {
  const partita::v1::Plan plan = Load(partita::c_api::kTwoEntries);
  EXPECT_EQ(plan.Entries(), (std::vector<std::string>{"twice", "square"}));
  partita::v1::Session session = Virtual(plan);
  session.UseEntry("square");
  session.SetInput("x", std::vector<float>{3, 4});
  session.Run();
  EXPECT_EQ(session.Output<float>("z"), (std::vector<float>{9, 16}));
}

TEST(PartitaHppTest, ErrorsHaveTheCodeAndTheMessage) {
  partita::v1::Session session = Virtual(Load(partita::kCounter));
  EXPECT_EQ(Thrown([&] { session.SetInput("x", std::vector<int32_t>(2)); },
                   PARTITA_INVALID_ARGUMENT),
            "INVALID_ARGUMENT: x: found elements of i32; expected f32");
  EXPECT_EQ(Thrown([&] { session.SetInput("x", std::vector<float>(3)); },
                   PARTITA_INVALID_ARGUMENT),
            "INVALID_ARGUMENT: x: found 3 elements; expected 2");
  // So many bytes overflow to those of two elements.
  const std::vector<float> x(2);
  constexpr size_t kOverflows = SIZE_MAX / sizeof(float) + 3;
  EXPECT_EQ(Thrown([&] { session.BindInput("x", x.data(), kOverflows); },
                   PARTITA_INVALID_ARGUMENT),
            "INVALID_ARGUMENT: x: found 4611686018427387906 elements; "
            "expected 2");
  const std::string message = Thrown(
      [&] { session.SetInput("y", std::vector<float>(2)); }, PARTITA_NOT_FOUND);
  EXPECT_TRUE(absl::StartsWith(message, "NOT_FOUND: ")) << message;
  EXPECT_TRUE(
      absl::StrContains(Thrown([] { partita::v1::Plan::Load("/nowhere.plan"); },
                               PARTITA_NOT_FOUND),
                        "/nowhere.plan"));
  EXPECT_TRUE(absl::StrContains(
      Thrown([&] { session.Run(); }, PARTITA_FAILED_PRECONDITION), "x"));
}

TEST(PartitaHppTest, HandlesAreMovedAndNotCopied) {
  static_assert(!std::is_copy_constructible_v<partita::v1::Plan>);
  static_assert(!std::is_copy_constructible_v<partita::v1::Session>);
  partita::v1::Session first = Virtual(Load(partita::kCounter));
  partita::v1::Session second = std::move(first);
  second.SetInput("x", std::vector<float>{0, 0});
  second.Run();
  EXPECT_EQ(second.Output<float>("n"), (std::vector<float>{10, 20}));
}

}  // namespace
