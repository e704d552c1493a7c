// Finds the kernels that compute a plan on virtual devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_END_TO_END_BOUND_KERNELS_H_
#define PARTITA_TESTS_END_TO_END_BOUND_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/kernel.h"
#include "runtime/plan/plan.h"

namespace partita {

// A node's kernel on one device.
struct BoundNode {
  std::string node;      // "conv %c"
  int64_t elements = 0;  // of its first result, on all devices
  std::string device;
  KernelId kernel;
  Arithmetic arithmetic;
};

// Of all entries, by node and device of its set.
absl::StatusOr<std::vector<BoundNode>> KernelsOnVirtualDevices(
    const Plan& plan);

// True if only eval or the library's own reference loops were bound.
bool IsSlow(const BoundNode& node);

}  // namespace partita

#endif  // PARTITA_TESTS_END_TO_END_BOUND_KERNELS_H_
