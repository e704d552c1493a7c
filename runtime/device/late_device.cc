// A queue of work and a thread for each stream.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/late_device.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"
#include "runtime/device/host_stream.h"

namespace partita {

// Lets the threads of the streams pass unless it is held.
class LateDevice::Gate {
 public:
  void Set(bool held) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !held_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
};

namespace {

// No address of a process has this bit.
constexpr uintptr_t kDeviceBit = uintptr_t{1} << 60;

Blocks OnHost(Blocks blocks) {
  blocks.base = HostAddress(blocks.base);
  return blocks;
}

class LateArena : public Arena {
 public:
  LateArena(std::unique_ptr<Arena> host,
            std::shared_ptr<std::atomic<int64_t>> used)
      : host_(std::move(host)), used_(std::move(used)) {
    *used_ += host_->size();
  }
  ~LateArena() override { *used_ -= host_->size(); }
  std::byte* base() const override {
    return reinterpret_cast<std::byte*>(
        reinterpret_cast<uintptr_t>(host_->base()) | kDeviceBit);
  }
  int64_t size() const override { return host_->size(); }
  int64_t CommittedBytes() const override { return host_->CommittedBytes(); }
  int64_t ReservedBytes() const override { return size(); }

 private:
  const std::unique_ptr<Arena> host_;
  const std::shared_ptr<std::atomic<int64_t>> used_;
};

bool IsDeviceAddress(const std::byte* address) {
  return (reinterpret_cast<uintptr_t>(address) & kDeviceBit) != 0;
}

// Like an event of a driver: only the device knows when it is reached.
class LateEvent : public DeviceEvent {
 public:
  void Reach(uint64_t step) {
    const std::lock_guard<std::mutex> lock(mutex_);
    reached_ = step + 1;
    changed_.notify_all();
  }

 private:
  absl::StatusOr<bool> WaitUntilReached(uint64_t step,
                                        const WaitPolicy& policy) override {
    constexpr auto kPoll = std::chrono::microseconds(500);
    std::unique_lock<std::mutex> lock(mutex_);
    while (reached_ <= step) {
      if (policy.stop != nullptr && policy.stop->load()) return false;
      if (std::chrono::steady_clock::now() >= policy.deadline) return false;
      changed_.wait_for(lock, kPoll);
    }
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t reached_ = 0;  // steps
};

class LateStream : public DeviceStream, public LateQueue {
 public:
  LateStream(std::function<void()> pass_gate,
             std::function<void(const Blocks&)> count_pageable)
      : pass_gate_(std::move(pass_gate)),
        count_pageable_(std::move(count_pageable)),
        thread_([this] { Work(); }) {}
  ~LateStream() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  void* native() const override {
    return const_cast<LateQueue*>(static_cast<const LateQueue*>(this));
  }
  int Attach() override { return 0; }
  void Detach(int attached) override {}
  absl::Status Copy(const Blocks& to, const Blocks& from) override {
    count_pageable_(to);
    count_pageable_(from);
    Issue([this, to = OnHost(to), from = OnHost(from)] {
      copier_.Copy(to, from).IgnoreError();
    });
    return absl::OkStatus();
  }
  absl::Status Record(DeviceEvent& event, uint64_t step) override {
    Issue([&event, step] { static_cast<LateEvent&>(event).Reach(step); });
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Wait(DeviceEvent& event, uint64_t step,
                            const WaitPolicy& policy) override {
    return event.Wait(step, policy);
  }
  absl::Status Sleep(std::chrono::nanoseconds duration) override {
    return copier_.Sleep(duration);
  }
  void Stamp(SteadyTime& time) override {
    Issue([&time] { time = std::chrono::steady_clock::now(); });
  }
  absl::Status Finish() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty(); });
    return absl::OkStatus();
  }

  void Issue(std::function<void()> work) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_all();
  }

 private:
  // Work leaves the queue when it is done.
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return closing_ || !work_.empty(); });
      if (work_.empty()) return;
      const std::function<void()> work = work_.front();
      lock.unlock();
      pass_gate_();
      work();
      lock.lock();
      work_.pop_front();
      changed_.notify_all();
    }
  }

  const std::function<void()> pass_gate_;
  const std::function<void(const Blocks&)> count_pageable_;
  HostStream copier_{/*threads=*/1};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace

bool LateDevice::Staging::Contains(const std::byte* address) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto after = ends.upper_bound(address);
  return after != ends.begin() && address < std::prev(after)->second;
}

class LateDevice::StagingArena : public Arena {
 public:
  StagingArena(std::unique_ptr<Arena> host, std::shared_ptr<Staging> staging)
      : host_(std::move(host)), staging_(std::move(staging)) {
    const std::lock_guard<std::mutex> lock(staging_->mutex);
    staging_->ends[base()] = base() + size();
  }
  ~StagingArena() override {
    const std::lock_guard<std::mutex> lock(staging_->mutex);
    staging_->ends.erase(base());
  }
  std::byte* base() const override { return host_->base(); }
  int64_t size() const override { return host_->size(); }
  int64_t CommittedBytes() const override { return host_->CommittedBytes(); }
  int64_t ReservedBytes() const override { return size(); }

 private:
  const std::unique_ptr<Arena> host_;
  const std::shared_ptr<Staging> staging_;
};

LateDevice::LateDevice(DeviceTraits traits, int64_t total, int64_t outside)
    : traits_(std::move(traits)),
      total_(total),
      used_(std::make_shared<std::atomic<int64_t>>(outside)),
      gate_(std::make_unique<Gate>()) {}

LateDevice::~LateDevice() = default;

void LateDevice::Hold() { gate_->Set(true); }
void LateDevice::Release() { gate_->Set(false); }

absl::StatusOr<std::optional<MemoryFigures>> LateDevice::Memory() const {
  return MemoryFigures{.total = total_, .free = total_ - *used_};
}

// Without a guard: commands close theirs before the work is done.
absl::StatusOr<std::unique_ptr<Arena>> LateDevice::NewArena(int64_t bytes,
                                                            int64_t alignment) {
  if (bytes > total_ - *used_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "device ", traits_.name, ": found an arena of ", bytes,
        " bytes; expected at most the ", total_ - *used_, " that are free"));
  }
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<HostArena> host,
      HostArena::New(traits_.name, bytes, alignment, /*guarded=*/false));
  return std::unique_ptr<Arena>(
      std::make_unique<LateArena>(std::move(host), used_));
}

absl::StatusOr<std::unique_ptr<Arena>> LateDevice::NewStaging(int64_t bytes) {
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<HostArena> host,
      HostArena::New(traits_.name, bytes, 4096, /*guarded=*/false));
  return std::unique_ptr<Arena>(
      std::make_unique<StagingArena>(std::move(host), staging_));
}

absl::StatusOr<std::unique_ptr<DeviceStream>> LateDevice::NewStream() {
  return std::make_unique<LateStream>(
      [this] { gate_->Pass(); },
      [staging = staging_](const Blocks& blocks) {
        const bool on_host = !IsDeviceAddress(blocks.base);
        if (on_host && !staging->Contains(blocks.base)) {
          ++staging->pageable_copies;
        }
      });
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> LateDevice::NewEvent() {
  return std::make_unique<LateEvent>();
}

absl::Status LateDevice::Upload(std::byte* to, const void* from,
                                int64_t bytes) {
  std::memcpy(HostAddress(to), from, bytes);
  return absl::OkStatus();
}

absl::Status LateDevice::Download(void* to, const std::byte* from,
                                  int64_t bytes) {
  std::memcpy(to, HostAddress(const_cast<std::byte*>(from)), bytes);
  return absl::OkStatus();
}

std::byte* HostAddress(void* address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(address) &
                                      ~kDeviceBit);
}

}  // namespace partita
