// Casts between f32 and the 16-bit floats.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_UPCAST_HALF_CAST_H_
#define PARTITA_KERNELS_UPCAST_HALF_CAST_H_

#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "kernels/kernel.h"

namespace partita {

// True for the 16-bit floats.
bool IsHalf(DType dtype);

// "upcast.cast": between f32 and bf16 or f16, in any layout.
bool IsHalfCast(const OpView& node);

// For an IsHalfCast node on a CPU.
KernelChoice ChooseHalfCast(const OpView& node, const DeviceTraits& device);
BoundKernel BindHalfCast(const OpView& node, const DeviceTraits& device);

}  // namespace partita

#endif  // PARTITA_KERNELS_UPCAST_HALF_CAST_H_
