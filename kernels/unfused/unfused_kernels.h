// Fused nodes that no kernel computes whole: a sequence of kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_UNFUSED_UNFUSED_KERNELS_H_
#define PARTITA_KERNELS_UNFUSED_UNFUSED_KERNELS_H_

#include <utility>
#include <vector>

#include "kernels/kernel.h"

namespace partita {

// "unfused.FIRST+SECOND...": binds each segment of the body (body_segments.h)
// with the first of `libraries` that can, or else with `fallback`; these must
// outlive this one. Intermediates are stored in a result's memory that is
// written in place later, or else in the workspace. No catalog offers this:
// compilers leave such nodes unfused. It serves plans whose kernel this host
// lacks, and emulated devices. Unimplemented if only `fallback` computes any
// segment.
class UnfusedLibrary : public KernelLibrary {
 public:
  UnfusedLibrary(std::vector<const KernelLibrary*> libraries,
                 const KernelLibrary& fallback)
      : libraries_(std::move(libraries)), fallback_(fallback) {}
  absl::string_view name() const override { return "unfused"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;

 private:
  const std::vector<const KernelLibrary*> libraries_;
  const KernelLibrary& fallback_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_UNFUSED_UNFUSED_KERNELS_H_
