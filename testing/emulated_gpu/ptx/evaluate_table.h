// Functions of instructions, found by name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_EVALUATE_TABLE_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_EVALUATE_TABLE_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

// "add.rn", "shl", "lt": modifiers that are not types are in the name.
struct NamedEvaluate {
  absl::string_view name;
  Evaluate evaluate;
};

// Null if no row has the name.
inline Evaluate FindByName(absl::Span<const NamedEvaluate> rows,
                           absl::string_view name) {
  for (const NamedEvaluate& row : rows) {
    if (row.name == name) return row.evaluate;
  }
  return nullptr;
}

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_EVALUATE_TABLE_H_
