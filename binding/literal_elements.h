// What constants hold, whatever their layouts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_LITERAL_ELEMENTS_H_
#define PARTITA_BINDING_LITERAL_ELEMENTS_H_

#include <optional>

#include "graph/host_tensor.h"

namespace partita {

// These walk packed bytes by code of their own: ConvertLayout, which packs
// constants, is not part of its proof. `packed` is not row-major. Its padding
// must be zero, as kernels may read it.

// True if `packed` has the elements of the row-major tensor of the same dtype
// and extents, bit for bit, and zeros as padding. Copies nothing.
bool HasElements(const HostTensor& packed, const HostTensor& elements);

// The elements of `packed` in row-major order. Nothing if the padding is not
// zero.
std::optional<HostTensor> UnpackedElements(const HostTensor& packed);

}  // namespace partita

#endif  // PARTITA_BINDING_LITERAL_ELEMENTS_H_
