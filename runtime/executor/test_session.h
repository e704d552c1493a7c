// Small plans for tests, and sessions that run them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_TEST_SESSION_H_
#define PARTITA_RUNTIME_EXECUTOR_TEST_SESSION_H_

#include <memory>
#include <vector>

#include "runtime/executor/executor.h"
#include "runtime/executor/late_kernels.h"
#include "runtime/executor/test_kernels.h"

namespace partita {

using Floats = std::vector<float>;

inline constexpr int kElements = 37;  // not a multiple of anything
TensorType Line();                    // f32[kElements]
Floats Ramp(float start);             // start, start + 0.5, ...

// y = relu(x + w) * x on one CPU stream; w is Ramp(-9).
std::shared_ptr<Plan> OneStreamPlan();

// The same function over two devices and four streams, 13 commands:
//   0/compute: feed x, sum           0/out: copy sum and x to device 1
//   1/compute: positive, y           1/back: fetch
std::shared_ptr<Plan> FourStreamPlan(int depth = 1,
                                     DeviceKind kind = DeviceKind::kCpu);
inline constexpr int kSumCommand = 1;
inline constexpr int kPositiveCommand = 8;
inline constexpr int kYCommand = 9;

// The result of both plans.
Floats Expected(const Floats& x);

// v' = v + x, y = v': every step changes a variable that starts at Ramp(0).
std::shared_ptr<Plan> CounterPlan();

enum class RunOn { kCpu, kVirtual, kTimed, kLate };
Devices NewDevices(const Plan& plan, RunOn run_on);

// An executor over a plan with one input x and one output y.
class TestSession {
 public:
  explicit TestSession(std::shared_ptr<Plan> plan, RunOn run_on = RunOn::kCpu);
  TestSession(std::shared_ptr<Plan> plan, Devices devices);

  absl::Status status() const { return status_; }
  Executor* operator->() { return executor_.get(); }
  void Close() { executor_.reset(); }

  absl::Status Run(const Floats& x, Floats& y, const RunOptions& options = {});
  absl::StatusOr<uint64_t> Submit(const Floats& x, Floats& y,
                                  const RunOptions& options = {});

  TestLibrary library;
  // Launches the library's kernels on GPUs that are LateDevices.
  const LateLibrary late_library{library};

 private:
  absl::Status status_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_TEST_SESSION_H_
