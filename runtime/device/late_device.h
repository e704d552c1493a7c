// A device for tests whose streams run behind the host, as a GPU's do.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_LATE_DEVICE_H_
#define PARTITA_RUNTIME_DEVICE_LATE_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/device/device.h"

namespace partita {

// Its arenas have addresses that the host has not mapped: host code that uses
// one ends the process. Copies, launches, records and stamps return when they
// are issued; a thread of each stream does the work in order.
//
// Its own memory has `total` bytes; other processes use `outside` of them.
//
// Thread safety: Hold and Release may run in parallel with all calls. All
// streams are released before they finish or are destroyed.
class LateDevice : public Device {
 public:
  explicit LateDevice(DeviceTraits traits, int64_t total = int64_t{1} << 40,
                      int64_t outside = 0);
  ~LateDevice() override;

  // Copies from or to host memory that is not staging memory of this device. A
  // real device does not run behind the host for them.
  int pageable_copies() const { return staging_->pageable_copies; }

  // Until Release, no work starts.
  void Hold();
  void Release();

  const DeviceTraits& traits() const override { return traits_; }
  const DeviceProperties& properties() const override { return properties_; }
  absl::StatusOr<std::optional<MemoryFigures>> Memory() const override;
  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override;
  absl::StatusOr<std::unique_ptr<Arena>> NewStaging(int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override;
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override;

 private:
  class Gate;
  // Memory of NewStaging, and copies that miss it. Streams may outlive the
  // device.
  struct Staging {
    bool Contains(const std::byte* address);

    std::mutex mutex;                                   // guards `ends`
    std::map<const std::byte*, const std::byte*> ends;  // by first byte
    std::atomic<int> pageable_copies = 0;
  };
  class StagingArena;

  const DeviceTraits traits_;
  const DeviceProperties properties_;
  const int64_t total_;
  // By other processes and by arenas. They may outlive the device.
  const std::shared_ptr<std::atomic<int64_t>> used_;
  const std::shared_ptr<Staging> staging_ = std::make_shared<Staging>();
  std::unique_ptr<Gate> gate_;
};

// The native stream of a LateDevice: LaunchArgs::stream of its kernels.
class LateQueue {
 public:
  virtual ~LateQueue() = default;
  // Does `work` when all earlier work of the stream is done.
  virtual void Issue(std::function<void()> work) = 0;
};

// Where the bytes at `address` are in the host: the address itself if it is
// none of a LateDevice. For work of the device.
std::byte* HostAddress(void* address);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_LATE_DEVICE_H_
