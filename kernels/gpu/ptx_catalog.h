// Which nodes GPU code is generated for, and the code.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_GPU_PTX_CATALOG_H_
#define PARTITA_KERNELS_GPU_PTX_CATALOG_H_

#include <string>
#include <vector>

#include "graph/kernel_catalog.h"
#include "kernels/codegen/gpu_kernel.h"

namespace partita {

// "ptx.elementwise", "ptx.rows" and "ptx.indices", for devices whose generated
// code is PTX, if the library of codegen exists: all nodes that ReadAnyProgram
// reads, row-major, or in any layout if elementwise. Seconds are a roofline of
// instructions, bytes and the longest thread. All GPUs compute the same bits,
// so that there is one arithmetic. Choices never opens the library. BuildCode
// makes one code object of PTX, for all nodes that are bound to such kernels.
//
// What has no program is not offered: WhyHostFallback says why.
class PtxCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override;
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override;
};

// True if the node is bound to a kernel of PtxCatalog.
bool HasPtxKernel(const OpView& node);

// OK if the catalog offers the node on every GPU from sm_80 on. Otherwise
// Unimplemented, with the node and the cause: it runs on the host, between
// transfers.
absl::Status WhyHostFallback(const OpView& node);

// How a node's kernel of the code object is launched.
struct PtxLaunch {
  std::string kernel;  // its name in the text
  GpuLaunch grid;
};
// For a node with the layouts that it is bound with, on a GPU with so many
// multiprocessors. Unimplemented as above.
absl::StatusOr<PtxLaunch> LaunchOfNode(const OpView& node, int multiprocessors);

}  // namespace partita

#endif  // PARTITA_KERNELS_GPU_PTX_CATALOG_H_
