// Copies a tensor from one layout to another.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COPY_LAYOUT_COPY_H_
#define PARTITA_KERNELS_COPY_LAYOUT_COPY_H_

#include <vector>

#include "graph/tensor_type.h"
#include "kernels/copy/strided_copy.h"

namespace partita {

// The constructor plans the copies; Run allocates nothing. Both types have the
// same dtype and extents. The target's padding is zeroed. Thread safety: const
// calls may run in parallel.
class LayoutCopy {
 public:
  LayoutCopy(const TensorType& from, const TensorType& to);
  void Run(const void* from, void* to, int threads) const;

 private:
  int64_t zeroed_bytes_ = 0;
  std::vector<StridedCopy> boxes_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_COPY_LAYOUT_COPY_H_
