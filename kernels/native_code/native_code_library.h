// Runs generated kernels, and computes the same bits without them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_NATIVE_CODE_NATIVE_CODE_LIBRARY_H_
#define PARTITA_KERNELS_NATIVE_CODE_NATIVE_CODE_LIBRARY_H_

#include <memory>
#include <string>

#include "graph/kernel_catalog.h"
#include "kernels/codegen/program.h"
#include "kernels/kernel.h"

namespace partita {

// Binds nodes of kernel "codegen.elementwise" to the node's function: in
// BindRequest::code, else in any code object that this process trusts
// (trusted_code.h), for ExecutableIsa, which the kernel's arithmetic names if
// its bits differ. Without code, binds an interpreter of the node's body, which
// is slow and gives the device's bits: "codegen.elementwise.interpreted". Does
// not link LLVM.
class NativeCodeLibrary : public KernelLibrary {
 public:
  // Makes this process trust code of one node for the device's instruction set;
  // Unavailable if there is no code generator.
  using CodeBuilder = absl::Status (*)(const OpView& node,
                                       const DeviceTraits& device);

  // `build`, if not null, builds the code of a node that has none, because it
  // is bound in place of the plan's kernel.
  explicit NativeCodeLibrary(CodeBuilder build = nullptr) : build_(build) {}
  absl::string_view name() const override { return "codegen"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;

 private:
  absl::StatusOr<ElementwiseEntry> FindOrBuildCode(
      const BindRequest& request, const std::string& name) const;

  const CodeBuilder build_;
};

// True if this process has compiled code for the node that its processor can
// run.
bool HasCode(const OpView& node, const DeviceTraits& device);

// The instruction set whose code computes here what a device of `isa` computes:
// a lesser one if this host's processor lacks `isa` and emulates it. The bits
// are equal, unless the processor has no fused multiply-add.
std::string ExecutableIsa(absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_KERNELS_NATIVE_CODE_NATIVE_CODE_LIBRARY_H_
