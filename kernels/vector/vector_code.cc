// The instruction sets that loops are compiled for, detected once.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/vector/vector_code.h"

#include "graph/instruction_set.h"

namespace partita {

bool HasAvx512() {
  static const bool has = MayUse(InstructionSet::kAvx512);
  return has;
}

bool HasAvx2() {
  static const bool has = MayUse(InstructionSet::kAvx2);
  return has;
}

}  // namespace partita
