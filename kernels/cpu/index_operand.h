// An operand of indices along one axis.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_INDEX_OPERAND_H_
#define PARTITA_KERNELS_CPU_INDEX_OPERAND_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "graph/op_view.h"

namespace partita {

// The node and its location.
std::string NameForMessages(const OpView& node);

// Operand 1 of a node, i32 or i64, row-major.
class IndexOperand {
 public:
  // Indices below 0 count from the end, or are out of range.
  IndexOperand(const OpView& node, int64_t extent, bool from_end);

  // Checks these indices; the messages are eval's.
  absl::Status Check(const void* indices) const;
  // After Check: index `i`, from the start.
  int64_t At(const void* indices, int64_t i) const {
    const int64_t index = Given(indices, i);
    return index < 0 ? index + extent_ : index;
  }
  int64_t count() const { return count_; }

 private:
  int64_t Given(const void* indices, int64_t i) const {
    return wide_ ? static_cast<const int64_t*>(indices)[i]
                 : static_cast<const int32_t*>(indices)[i];
  }

  std::string name_;  // for messages
  bool wide_;
  int64_t count_;
  int64_t extent_;
  int64_t least_;
};

bool HasIndexOperand(const OpView& node);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_INDEX_OPERAND_H_
