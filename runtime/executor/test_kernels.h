// Kernels for tests: they evaluate any node, and fail on demand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_TEST_KERNELS_H_
#define PARTITA_RUNTIME_EXECUTOR_TEST_KERNELS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "kernels/kernel.h"

namespace partita {

// Binds every row-major node as "test.eval". `before_launch`, if set, is called
// with the node before each launch, on the launching thread. If it returns an
// error, the launch returns that error.
class TestLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "test"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;

  std::function<absl::Status(const OpView&)> before_launch;
  // If set, receives the pointers of each launch before the kernel uses them.
  std::function<void(const LaunchArgs&)> on_pointers;
  // The arithmetic that the kernels report.
  Arithmetic arithmetic = {.source = "test"};
  // True if the kernels allow results in place of operands.
  bool in_place = true;
  // Bytes of workspace that the kernels need; a smaller budget is refused.
  int64_t workspace = 0;
  // Kernels that exist, and launches in progress.
  mutable std::atomic<int> bound{0};
  mutable std::atomic<int> launching{0};
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_TEST_KERNELS_H_
