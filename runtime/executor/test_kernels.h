// Kernels for tests: eval of any node, with faults on demand.
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
// with the node before each launch, from the launching thread; what it returns
// is what the launch returns if it is an error.
class TestLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "test"; }
  absl::StatusOr<LibraryKernel> Bind(const BindRequest& request) const override;

  std::function<absl::Status(const OpView&)> before_launch;
  // If set, sees the pointers of each launch before the kernel uses them.
  std::function<void(const LaunchArgs&)> on_pointers;
  // What the kernels say of themselves.
  std::string arithmetic = "test";
  // Whether the kernels let results take over operands.
  bool in_place = true;
  // Bytes that the kernels ask for; more than the budget is refused.
  int64_t workspace = 0;
  // Kernels alive now, and launches under way.
  mutable std::atomic<int> bound{0};
  mutable std::atomic<int> launching{0};
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_TEST_KERNELS_H_
