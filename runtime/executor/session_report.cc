// Names of kinds of memory.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/session_report.h"

namespace partita {

const char* MemoryKindName(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kWeights:
      return "weights";
    case MemoryKind::kVariable:
      return "variable";
    case MemoryKind::kActivation:
      return "activation";
    case MemoryKind::kWorkspace:
      return "workspace";
    case MemoryKind::kStaging:
      return "staging";
    case MemoryKind::kCode:
      return "code";
  }
  return "";
}

}  // namespace partita
