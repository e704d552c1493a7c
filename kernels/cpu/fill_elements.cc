// Copies what is already written, in chunks that stay in the first-level cache.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/fill_elements.h"

#include <algorithm>
#include <cstring>

namespace partita {

void FillElements(absl::Span<const std::byte> element, int64_t count,
                  std::byte* to) {
  constexpr size_t kLongestChunk = size_t{1} << 14;  // whole elements
  const size_t size = element.size() * static_cast<size_t>(count);
  if (size == 0) return;
  std::memcpy(to, element.data(), element.size());
  for (size_t done = element.size(); done < size;) {
    const size_t chunk = std::min({done, kLongestChunk, size - done});
    std::memcpy(to + done, to, chunk);
    done += chunk;
  }
}

}  // namespace partita
