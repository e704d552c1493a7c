// What a compilation makes plans for: machine, options and kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILE_TARGET_H_
#define PARTITA_PARTITA_COMPILE_TARGET_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/device_traits.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "partita/compile.h"
#include "partita/machine_catalog.h"
#include "placement/machine/machine.h"

namespace partita {

class CompileTarget {
 public:
  // `machine` and `options` must outlive it.
  CompileTarget(const Machine& machine, const CompileOptions& options);
  CompileTarget(const CompileTarget&) = delete;
  CompileTarget& operator=(const CompileTarget&) = delete;

  const Machine& machine() const { return machine_; }
  const CompileOptions& options() const { return options_; }
  const KernelCatalog& catalog() const { return catalog_.catalog(); }
  // The first error of the catalogs; after all other queries.
  absl::Status CheckCatalog() const { return catalog_.Check(); }
  // By machine device: the traits, and the bytes that a plan may use.
  const std::vector<DeviceTraits>& traits() const { return traits_; }
  const std::vector<int64_t>& usable() const { return usable_; }

  // What fusions ask (passes/pass_context.h): true if a device has a kernel for
  // the fused node.
  bool HasKernel(const OpView& fused) const;

 private:
  const Machine& machine_;
  const CompileOptions& options_;
  const MachineCatalog catalog_;
  std::vector<DeviceTraits> traits_;
  std::vector<DeviceClass> classes_;  // of traits_
  std::vector<int64_t> usable_;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILE_TARGET_H_
