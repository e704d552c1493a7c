// Fills memory with one element.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_FILL_ELEMENTS_H_
#define PARTITA_KERNELS_CPU_FILL_ELEMENTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace partita {

// Writes the bytes of `element` `count` times, starting at `to`.
void FillElements(absl::Span<const std::byte> element, int64_t count,
                  std::byte* to);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_FILL_ELEMENTS_H_
