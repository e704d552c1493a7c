// Tests what every device must do, with each backend.
// SPDX-License-Identifier: Apache-2.0

#include "partita/backends/testing/device_conformance.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "partita/backends/backend.h"
#include "runtime/device/host_device.h"
#include "runtime/device/late_device.h"

namespace partita {
namespace {

// Every backend, and a device that runs behind the host.
std::vector<DeviceCase> DeviceCases() {
  std::vector<DeviceCase> cases;
  for (const Backend* backend : Backends()) {
    if (backend->new_device == nullptr) continue;
    cases.push_back({std::string(backend->name), [=](DeviceTraits traits) {
                       return backend->new_device(std::move(traits), {});
                     }});
  }
  cases.push_back({"late", [](DeviceTraits traits) {
                     return std::make_unique<LateDevice>(std::move(traits));
                   }});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformanceTest,
                         testing::ValuesIn(DeviceCases()),
                         [](const auto& tested) { return tested.param.name; });

DeviceTraits LateTraits() {
  DeviceTraits traits;
  traits.name = "late:0";
  return traits;
}

WaitPolicy ForMilliseconds(int count) {
  return {.deadline = std::chrono::steady_clock::now() +
                      std::chrono::milliseconds(count)};
}

// A copy of one int to `received`, an event and a stamp after it; all are
// issued, but nothing is done until Release.
class LateCopy {
 public:
  LateCopy() {
    device_.Hold();
    const Blocks to = {reinterpret_cast<std::byte*>(&received), sizeof(int)};
    const Blocks from = {reinterpret_cast<std::byte*>(&sent_), sizeof(int)};
    EXPECT_TRUE(stream_->Copy(to, from).ok());
    EXPECT_TRUE(stream_->Record(*event_, 0).ok());
    stream_->Stamp(reached);
  }
  ~LateCopy() { device_.Release(); }

  void Release() { device_.Release(); }
  void Finish() { EXPECT_TRUE(stream_->Finish().ok()); }
  DeviceEvent& event() { return *event_; }

  int received = 0;
  SteadyTime reached;

 private:
  LateDevice device_{LateTraits()};
  int sent_ = 7;
  const std::unique_ptr<DeviceEvent> event_ = device_.NewEvent().value();
  const std::unique_ptr<DeviceStream> stream_ = device_.NewStream().value();
};

TEST(LateDevice, AStreamOfTheCpuWaitsForACopyThatIsIssuedAndNotDone) {
  LateCopy copy;
  const auto stream = NewCpuDevice({})->NewStream().value();
  EXPECT_FALSE(stream->Wait(copy.event(), 0, ForMilliseconds(20)).value());
  copy.Release();
  EXPECT_TRUE(stream->Wait(copy.event(), 0, {}).value());
  EXPECT_EQ(copy.received, 7);
  EXPECT_FALSE(stream->Wait(copy.event(), 1, ForMilliseconds(1)).value());
}

TEST(LateDevice, AStampIsTheTimeOfTheDevice) {
  LateCopy copy;
  const SteadyTime released = std::chrono::steady_clock::now();
  copy.Release();
  copy.Finish();
  EXPECT_GE(copy.reached, released);
}

}  // namespace
}  // namespace partita
