// Tests which devices load which code objects of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "partita/generated_code.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

using Loads = std::vector<std::string>;  // by order: the device and the target

Loads& AllLoads() {
  static Loads& loads = *new Loads;
  return loads;
}

template <char kDevice>
constexpr CodeLoader kRecorder = {
    .load =
        [](const CodeObject& code) {
          AllLoads().push_back(std::string(1, kDevice) + " " + code.target);
          return absl::OkStatus();
        },
    .has_code = [](const OpView&, const DeviceTraits&) { return true; },
    .executable_isa = [](absl::string_view isa) { return std::string(isa); }};

// A CPU and a GPU, and code for both and for a third device.
Plan PlanWithCode() {
  Plan plan;
  plan.devices.resize(2);
  plan.devices[0].traits.name = "cpu:0";
  plan.devices[0].traits.isa = "avx2";
  plan.devices[1].traits.name = "gpu:0";
  plan.devices[1].traits.kind = DeviceKind::kCuda;
  plan.devices[1].traits.isa = "sm_90";
  for (const char* target : {"x86-64-avx2", "sm_90", "sm_80"}) {
    plan.code_objects.push_back({.target = target, .bytes = {std::byte{1}}});
  }
  return plan;
}

Loads LoadsOf(const CodeLoaders& loaders, bool trust_code) {
  AllLoads().clear();
  const auto notice = PrepareGeneratedCode(PlanWithCode(), loaders, trust_code);
  EXPECT_TRUE(notice.ok()) << notice.status();
  return AllLoads();
}

TEST(GeneratedCode, ADeviceLoadsTheCodeOfItsTarget) {
  EXPECT_EQ(LoadsOf({&kRecorder<'c'>, &kRecorder<'g'>}, /*trust_code=*/true),
            (Loads{"c x86-64-avx2", "g sm_90"}));
}

TEST(GeneratedCode, ADeviceWithoutALoaderLoadsNone) {
  EXPECT_EQ(LoadsOf({&kRecorder<'c'>, nullptr}, /*trust_code=*/true),
            (Loads{"c x86-64-avx2"}));
}

// PTX can write the memory of the process, as native code can.
TEST(GeneratedCode, CodeThatIsNotTrustedIsNotLoaded) {
  EXPECT_EQ(LoadsOf({&kRecorder<'c'>, &kRecorder<'g'>}, /*trust_code=*/false),
            Loads());
}

}  // namespace
}  // namespace partita
