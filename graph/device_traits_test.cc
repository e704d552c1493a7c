// Tests the names of the kinds of devices.
// SPDX-License-Identifier: Apache-2.0

#include "graph/device_traits.h"

#include <set>
#include <string>
#include <vector>

#include "graph/device_kind_traits.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(DeviceTraits, EveryKindHasANameOfItsOwn) {
  std::set<absl::string_view> names;
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    EXPECT_TRUE(names.insert(DeviceKindName(kind)).second)
        << DeviceKindName(kind);
    EXPECT_EQ(ParseDeviceKind(DeviceKindName(kind)), kind);
  }
}

// Such a number would be a kind that device_traits.cc does not know.
TEST(DeviceTraits, AKindThatIsUnknownHasNoName) {
  const absl::string_view name =
      DeviceKindName(static_cast<DeviceKind>(kNumDeviceKinds));
  EXPECT_EQ(name, "unknown");
  EXPECT_EQ(ParseDeviceKind(name), std::nullopt);
}

TEST(DeviceTraits, DevicesThatDifferInNameOnlyAreOneClass) {
  std::vector<DeviceTraits> devices(4);
  for (int i = 0; i < 4; ++i) devices[i].name = std::string(1, 'a' + i);
  devices[1].threads = 2;
  devices[3].threads = 2;
  EXPECT_EQ(ClassesOf(devices),
            (std::vector<DeviceClass>{{&devices[0], &devices[2]},
                                      {&devices[1], &devices[3]}}));
  EXPECT_TRUE(ClassesOf({}).empty());
}

// A row in another place would be another kind's.
TEST(DeviceTraits, RowsAreInTheOrderOfTheKinds) {
  EXPECT_EQ(TraitsOf(DeviceKind::kCpu).name, "cpu");
  EXPECT_EQ(TraitsOf(DeviceKind::kCuda).name, "cuda");
}

TEST(DeviceTraits, AKindAcceptsTheIsasThatItNames) {
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    const IsaRule& isa = TraitsOf(static_cast<DeviceKind>(i)).isa;
    EXPECT_EQ(isa.names == nullptr, !isa.form.empty()) << i;
    EXPECT_FALSE(isa.accepts("")) << i;
    EXPECT_TRUE(isa.usual.empty() || isa.accepts(isa.usual)) << i;
    if (isa.names == nullptr) continue;
    for (const std::string& name : isa.names()) {
      EXPECT_TRUE(isa.accepts(name)) << name;
    }
  }
}

DeviceTraits WithIsa(DeviceKind kind, const std::string& isa) {
  DeviceTraits device;
  device.kind = kind;
  device.isa = isa;
  return device;
}

TEST(DeviceTraits, IsasWithTheSameCodeHaveOneTarget) {
  const auto cpu = [](const std::string& isa) {
    return CodeTargetOf(WithIsa(DeviceKind::kCpu, isa));
  };
  EXPECT_EQ(cpu("avx2"), "x86-64-avx2");
  EXPECT_EQ(cpu("avx512_bf16"), cpu("avx512"));
  EXPECT_EQ(cpu("").find("x86-64-"), 0u);
  const auto gpu = [](const std::string& isa) {
    return CodeTargetOf(WithIsa(DeviceKind::kCuda, isa));
  };
  EXPECT_EQ(gpu("sm_80"), "sm_80");
  EXPECT_EQ(gpu("sm_89"), "sm_80");
  EXPECT_EQ(gpu("sm_90a"), "sm_90");
  EXPECT_EQ(gpu("sm_120"), "sm_90");
  EXPECT_EQ(gpu("sm_75"), "");
  EXPECT_EQ(gpu(""), "");
}

}  // namespace
}  // namespace partita
