// Sessions through the C API: options, entries, and what C++ computes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/session.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/device_kind_traits.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

std::vector<float> X() { return {1, 2, 3, 4, 5, 6}; }

// y of kTwoDevices for X(), by the C++ API.
std::vector<float> ExpectedY() {
  auto session =
      Session::Create(std::make_shared<const Plan>(PlanOf(kTwoDevices)));
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(
      (*session)->SetInput("x", HostTensor::Of<float>({2, 3}, X())).ok());
  EXPECT_TRUE((*session)->Run().ok());
  const HostTensor& y = **(*session)->GetOutput("y");
  return {y.data<float>().begin(), y.data<float>().end()};
}

// "CODE: message" of a session that must be refused.
std::string Refusal(partita_plan* plan,
                    const partita_session_options* options) {
  const Caught caught;
  partita_session* session = reinterpret_cast<partita_session*>(1);
  const partita_code code =
      partita_session_new(plan, options, &session, caught.get());
  EXPECT_EQ(session, nullptr);
  return absl::StrCat(partita_code_name(code), ": ", caught.message());
}

// Runs one step of kTwoDevices, or a plan like it, for X().
std::vector<float> RunOnce(partita_session* session) {
  std::vector<float> x = X();
  const partita_tensor tensor = FloatsOf({2, 3}, x);
  const Caught caught;
  EXPECT_EQ(partita_session_set_input(session, 0, &tensor, caught.get()),
            PARTITA_OK)
      << caught.message();
  EXPECT_EQ(partita_session_run(session, nullptr, caught.get()), PARTITA_OK)
      << caught.message();
  return OutputFloats(session);
}

TEST(CApiSessionTest, AStepGivesTheValuesOfTheCppApi) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  for (const int32_t devices :
       {PARTITA_DEVICES_REAL, PARTITA_DEVICES_VIRTUAL}) {
    EXPECT_EQ(RunOnce(SessionOf(plan.get(), devices).get()), ExpectedY());
  }
}

TEST(CApiSessionTest, OptionsMayBeNull) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  partita_session* session = nullptr;
  ASSERT_EQ(partita_session_new(plan.get(), nullptr, &session, nullptr),
            PARTITA_OK);
  const Owned<partita_session> owned(session);
  EXPECT_EQ(RunOnce(session), ExpectedY());
}

TEST(CApiSessionTest, SessionsOutliveTheirPlan) {
  Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  const Owned<partita_session> one = SessionOf(plan.get());
  const Owned<partita_session> two = SessionOf(plan.get());
  plan.reset();
  EXPECT_EQ(RunOnce(one.get()), ExpectedY());
  EXPECT_EQ(RunOnce(two.get()), ExpectedY());
}

TEST(CApiSessionTest, ConstantsMayBeCopied) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  partita_session_options options = partita_session_options_default();
  options.copy_constants = 1;
  partita_session* session = nullptr;
  ASSERT_EQ(partita_session_new(plan.get(), &options, &session, nullptr),
            PARTITA_OK);
  const Owned<partita_session> owned(session);
  partita_memory memory = partita_memory_empty();
  ASSERT_EQ(partita_session_memory(session, 0, &memory, nullptr), PARTITA_OK);
  EXPECT_EQ(memory.in_place, 0);
  EXPECT_EQ(RunOnce(session), ExpectedY());
}

TEST(CApiSessionTest, OptionsOutOfRangeAreRefused) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  partita_session_options options = partita_session_options_default();
  options.devices = 9;
  EXPECT_EQ(Refusal(plan.get(), &options),
            "INVALID_ARGUMENT: devices: found 9; expected "
            "PARTITA_DEVICES_REAL, PARTITA_DEVICES_VIRTUAL or "
            "PARTITA_DEVICES_TIMED");
  options = partita_session_options_default();
  options.code = -1;
  EXPECT_EQ(Refusal(plan.get(), &options),
            "INVALID_ARGUMENT: code: found -1; expected "
            "PARTITA_CODE_BUILD_AGAIN, PARTITA_CODE_TRUST or "
            "PARTITA_CODE_REFUSE");
  options = partita_session_options_default();
  options.copy_constants = 2;
  EXPECT_EQ(Refusal(plan.get(), &options),
            "INVALID_ARGUMENT: copy_constants: found 2; expected 0 or 1");
  options = partita_session_options_default();
  options.split_gpu = -3;
  EXPECT_TRUE(
      absl::StartsWith(Refusal(plan.get(), &options),
                       "INVALID_ARGUMENT: split-gpu: found -3; expected 1.."));
  options.struct_size = 8;
  EXPECT_EQ(Refusal(plan.get(), &options),
            "INVALID_ARGUMENT: partita_session_options: found a struct_size "
            "of 8; expected 24..1024; set it to "
            "sizeof(partita_session_options)");
}

TEST(CApiSessionTest, APlanForOtherDevicesIsUnavailableUnlessTheyAreVirtual) {
  const std::string gpus = absl::StrReplaceAll(
      kTwoDevices, {{"cpu:", "gpu:"}, {" cpu threads", " cuda threads"}});
  const Owned<partita_plan> plan = PlanFromText(gpus);
  EXPECT_TRUE(absl::StartsWith(Refusal(plan.get(), nullptr), "UNAVAILABLE: "));
  EXPECT_EQ(RunOnce(SessionOf(plan.get(), PARTITA_DEVICES_VIRTUAL).get()),
            ExpectedY());
}

// kTwoDevices with neg in place of relu, by a generated kernel whose code is
// bytes of no program. No other test builds code for it.
Plan PlanWithCode() {
  Plan plan = PlanOf(absl::StrReplaceAll(
      kTwoDevices, {{"relu %t : f32[2, 2] on cpu:1 by \"reference.eval\"",
                     "neg %t : f32[2, 2] on cpu:1 by codegen.elementwise"}}));
  CodeObject& code = plan.code_objects.emplace_back();
  code.target = "x86-64";
  code.bytes.assign(100, std::byte{7});
  return plan;
}

TEST(CApiSessionTest, NativeCodeThatIsNotTrustedIsRefusedOnRequest) {
  const Owned<partita_plan> plan = PlanFromBytes(PlanBytes(PlanWithCode()));
  partita_session_options options = partita_session_options_default();
  options.code = PARTITA_CODE_REFUSE;
  EXPECT_EQ(Refusal(plan.get(), &options),
            "PERMISSION_DENIED: plan @f: found native code, which is not "
            "trusted; expected none with PARTITA_CODE_REFUSE; let it be built "
            "again (PARTITA_CODE_BUILD_AGAIN), or trust it "
            "(PARTITA_CODE_TRUST)");
  // A plan without code is no risk.
  const Owned<partita_plan> plain = PlanFromText(kTwoDevices);
  partita_session* session = nullptr;
  EXPECT_EQ(partita_session_new(plain.get(), &options, &session, nullptr),
            PARTITA_OK);
  partita_session_free(session);
}

// If it ran, the process would end.
TEST(CApiSessionTest, NativeCodeThatIsNotTrustedDoesNotRun) {
  const Owned<partita_plan> plan = PlanFromBytes(PlanBytes(PlanWithCode()));
  const Owned<partita_session> session = SessionOf(plan.get());
  const char* notice = nullptr;
  ASSERT_EQ(partita_session_notice(session.get(), &notice, nullptr),
            PARTITA_OK);
  // It is interpreted, or built again where a code generator is found.
  EXPECT_TRUE(absl::StrContains(notice, " 1 generated kernels")) << notice;
  EXPECT_EQ(RunOnce(session.get()), (std::vector<float>{-22, 28, -49, 64}));
}

TEST(CApiSessionTest, TrustedBytesThatAreNoProgramAreRefused) {
  Plan code = PlanWithCode();
  code.code_objects[0].target = CodeTargetOf(code.devices[1].traits);
  const Owned<partita_plan> plan = PlanFromBytes(PlanBytes(code));
  partita_session_options options = partita_session_options_default();
  options.code = PARTITA_CODE_TRUST;
  const std::string refusal = Refusal(plan.get(), &options);
  EXPECT_TRUE(absl::StartsWith(refusal, "INVALID_ARGUMENT: ")) << refusal;
}

TEST(CApiSessionTest, WithoutGeneratedKernelsThereIsNoNotice) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  const char* notice = nullptr;
  ASSERT_EQ(partita_session_notice(session.get(), &notice, nullptr),
            PARTITA_OK);
  EXPECT_STREQ(notice, "");
}

TEST(CApiSessionTest, EntriesAreUsedByName) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  const Caught caught;
  EXPECT_EQ(partita_session_use_entry(session.get(), "f", caught.get()),
            PARTITA_OK);
  EXPECT_EQ(partita_session_use_entry(session.get(), "g", caught.get()),
            PARTITA_NOT_FOUND);
  EXPECT_EQ(caught.message(),
            "entry g: found no such entry in plan @f; expected one of f");
  EXPECT_EQ(partita_session_use_entry(session.get(), nullptr, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "name: found NULL; expected one of the plan's entries");
}

TEST(CApiSessionTest, TheDepthIsThatOfThePlan) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  int32_t depth = 0;
  ASSERT_EQ(partita_session_depth(session.get(), &depth, nullptr), PARTITA_OK);
  EXPECT_EQ(depth, 1);
}

TEST(CApiSessionTest, MemoryFiguresAreThoseOfTheCppApi) {
  const std::string path = absl::StrCat(testing::TempDir(), "/figures.plan");
  WriteBytes(path, PlanBytes(PlanOf(kTwoDevices)));
  auto expected = Session::Load(path);
  ASSERT_TRUE(expected.ok()) << expected.status();
  partita_plan* plan = nullptr;
  ASSERT_EQ(partita_plan_load(path.c_str(), &plan, nullptr), PARTITA_OK);
  const Owned<partita_plan> owned(plan);
  const Owned<partita_session> session = SessionOf(plan);
  size_t devices = 0;
  ASSERT_EQ(partita_session_num_devices(session.get(), &devices, nullptr),
            PARTITA_OK);
  const std::vector<DeviceMemory> use = (*expected)->MemoryUse().value();
  ASSERT_EQ(devices, use.size());
  for (size_t d = 0; d < devices; ++d) {
    const char* name = nullptr;
    partita_memory memory = partita_memory_empty();
    ASSERT_EQ(partita_session_device_name(session.get(), d, &name, nullptr),
              PARTITA_OK);
    ASSERT_EQ(partita_session_memory(session.get(), d, &memory, nullptr),
              PARTITA_OK);
    EXPECT_EQ(name, use[d].device);
    EXPECT_EQ(memory.arena, use[d].arena);
    EXPECT_EQ(memory.persistent, use[d].persistent);
    EXPECT_EQ(memory.step, use[d].step);
    EXPECT_EQ(memory.depth, use[d].depth);
    EXPECT_EQ(memory.allocated, use[d].allocated);
    EXPECT_EQ(memory.in_place, use[d].in_place);
    EXPECT_EQ(memory.limit, use[d].limit);
  }
}

TEST(CApiSessionTest, ADeviceOutOfRangeIsRefused) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  const Caught caught;
  partita_memory memory = partita_memory_empty();
  const char* name = nullptr;
  EXPECT_EQ(partita_session_memory(session.get(), 2, &memory, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "session: found device 2; expected an index below 2");
  EXPECT_EQ(partita_session_device_name(session.get(), 2, &name, nullptr),
            PARTITA_INVALID_ARGUMENT);
  memory.struct_size = 3;
  EXPECT_EQ(partita_session_memory(session.get(), 0, &memory, caught.get()),
            PARTITA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace partita::c_api
