// Runs generated kernels, and computes the same bits without them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_IMAGE_IMAGE_LIBRARY_H_
#define PARTITA_KERNELS_IMAGE_IMAGE_LIBRARY_H_

#include <memory>
#include <string>

#include "graph/kernel_catalog.h"
#include "kernels/codegen/program.h"
#include "kernels/kernel.h"

namespace partita {

// Binds nodes of kernel "codegen.elementwise": to the node's function in
// BindRequest::image, else in any image that this process trusts
// (image_store.h), of ExecutableIsa, which the kernel's arithmetic names where
// its bits are others, else to an interpreter of the node's body, which is slow
// and gives the device's bits: "codegen.elementwise.interpreted". Links no
// LLVM.
class ImageLibrary : public KernelLibrary {
 public:
  // Makes this process trust code of one node for the device's instruction set;
  // Unavailable where there is no code generator.
  using CodeBuilder = absl::Status (*)(const OpView& node,
                                       const DeviceTraits& device);

  // `build`, if any, is asked for the code of a node that has none: one that is
  // bound instead of the plan's kernel, so that nobody knew of it before.
  explicit ImageLibrary(CodeBuilder build = nullptr) : build_(build) {}
  absl::string_view name() const override { return "codegen"; }
  absl::StatusOr<LibraryKernel> Bind(const BindRequest& request) const override;

 private:
  absl::StatusOr<ElementwiseEntry> FindOrBuildCode(
      const BindRequest& request, const std::string& name) const;

  const CodeBuilder build_;
};

// Whether compiled code for the node is at hand that this processor can run.
bool HasCode(const OpView& node, const DeviceTraits& device);

// The instruction set whose code computes here what a device of `isa` computes:
// a lesser one where the processor that plays the device lacks it. To the bit,
// unless the processor has no fused multiply-adds.
std::string ExecutableIsa(absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_KERNELS_IMAGE_IMAGE_LIBRARY_H_
