// Binds generated kernels to GPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CUDA_PTX_LIBRARY_H_
#define PARTITA_KERNELS_CUDA_PTX_LIBRARY_H_

#include "graph/device_traits.h"
#include "graph/op_view.h"
#include "kernels/kernel.h"

namespace partita {

// Binds nodes of kernels "ptx.*" (kernels/gpu/ptx_catalog.h) to their kernels
// in BindRequest::code, else in any PTX that this process trusts
// (trusted_ptx.h); builds it if there is none. The thread that binds has the
// context of the GPU that the kernel is to run on. FailedPrecondition if there
// is no code for the node and no code generator, or the driver refuses it.
class PtxLibrary : public KernelLibrary {
 public:
  absl::string_view name() const override { return "ptx"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;
};

// True if this process trusts PTX for the node on such a device.
bool HasPtx(const OpView& node, const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_KERNELS_CUDA_PTX_LIBRARY_H_
