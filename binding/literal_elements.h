// What constants hold, whatever their layouts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_LITERAL_ELEMENTS_H_
#define PARTITA_BINDING_LITERAL_ELEMENTS_H_

#include <optional>
#include <string>

#include "graph/host_tensor.h"
#include "graph/ids.h"
#include "graph/literal_pool.h"

namespace partita {

// The elements of `packed` in row-major order, by code of its own:
// ConvertLayout, which packs constants, is not part of its proof. Nothing if
// the padding is not zero, as kernels may read it.
std::optional<HostTensor> UnpackedElements(const HostTensor& packed);

// Equal for literals with the same dtype, extents and elements, in any layout;
// different for others, as far as hashes tell (ContentHash). Nothing if the
// padding is not zero. Reads only literals that are not row-major, and hashes
// those without a known hash, one at a time; a literal without bytes equals
// only those of its own layout.
std::optional<std::string> ElementsKey(const LiteralPool& literals,
                                       LiteralId literal);

}  // namespace partita

#endif  // PARTITA_BINDING_LITERAL_ELEMENTS_H_
