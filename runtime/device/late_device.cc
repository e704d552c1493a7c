// A queue of work and a thread for each stream.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/late_device.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

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

// Like an event of a driver: only the device knows when it is reached.
class LateEvent : public DeviceEvent {
 public:
  void Reach(uint64_t step) {
    const std::lock_guard<std::mutex> lock(mutex_);
    reached_ = step + 1;
    changed_.notify_all();
  }

 private:
  bool WaitUntilReached(uint64_t step, const WaitPolicy& policy) override {
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

class LateStream : public DeviceStream {
 public:
  explicit LateStream(std::function<void()> pass_gate)
      : pass_gate_(std::move(pass_gate)), thread_([this] { Work(); }) {}
  ~LateStream() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  int Attach() override { return 0; }
  void Detach(int attached) override {}
  absl::Status Copy(const Blocks& to, const Blocks& from) override {
    Issue([this, to, from] { copier_.Copy(to, from).IgnoreError(); });
    return absl::OkStatus();
  }
  absl::Status Record(DeviceEvent& event, uint64_t step) override {
    Issue([&event, step] { static_cast<LateEvent&>(event).Reach(step); });
    return absl::OkStatus();
  }
  bool Wait(DeviceEvent& event, uint64_t step,
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

 private:
  void Issue(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_all();
  }

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
  HostStream copier_{/*threads=*/1};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace

LateDevice::LateDevice(DeviceTraits traits)
    : traits_(std::move(traits)), gate_(std::make_unique<Gate>()) {}

LateDevice::~LateDevice() = default;

void LateDevice::Hold() { gate_->Set(true); }
void LateDevice::Release() { gate_->Set(false); }

// Without a guard: commands close theirs before the work is done.
absl::StatusOr<std::unique_ptr<Arena>> LateDevice::NewArena(int64_t bytes,
                                                            int64_t alignment) {
  return HostArena::New(traits_.name, bytes, alignment, /*guarded=*/false);
}

std::unique_ptr<DeviceStream> LateDevice::NewStream() {
  return std::make_unique<LateStream>([this] { gate_->Pass(); });
}

std::unique_ptr<DeviceEvent> LateDevice::NewEvent() {
  return std::make_unique<LateEvent>();
}

absl::Status LateDevice::Upload(std::byte* to, const void* from,
                                int64_t bytes) {
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}

absl::Status LateDevice::Download(void* to, const std::byte* from,
                                  int64_t bytes) {
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}

}  // namespace partita
