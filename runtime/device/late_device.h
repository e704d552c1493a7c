// A device for tests whose streams run behind the host, as a GPU's do.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_LATE_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_LATE_DEVICE_H_

#include <memory>

#include "runtime/device/device.h"

namespace partita {

// Its memory is in the host. Copies, records and stamps return when they are
// issued; a thread of each stream does the work in order. It launches no
// kernels.
//
// Thread safety: Hold and Release may run in parallel with all calls. All
// streams are released before they finish or are destroyed.
class LateDevice : public Device {
 public:
  explicit LateDevice(DeviceTraits traits);
  ~LateDevice() override;

  // Until Release, no work starts.
  void Hold();
  void Release();

  const DeviceTraits& traits() const override { return traits_; }
  const DeviceProperties& properties() const override { return properties_; }
  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override;
  std::unique_ptr<DeviceStream> NewStream() override;
  std::unique_ptr<DeviceEvent> NewEvent() override;
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override;
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override;

 private:
  class Gate;

  const DeviceTraits traits_;
  const DeviceProperties properties_;
  std::unique_ptr<Gate> gate_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_LATE_DEVICE_H_
