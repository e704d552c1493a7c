// Which convolutions Winograd's algorithms compute.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_WINOGRAD_FORM_H_
#define PARTITA_KERNELS_CPU_WINOGRAD_FORM_H_

#include <cstdint>

#include "absl/types/span.h"
#include "graph/op_view.h"

namespace partita {

// True for a convolution, its transpose or its gradient by the weights with 3x3
// windows, stride 1 and no groups.
bool IsForTiles(const OpView& op, absl::Span<const int64_t> kernel);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_WINOGRAD_FORM_H_
