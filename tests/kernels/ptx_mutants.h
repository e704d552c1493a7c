// PTX texts with one instruction dropped or changed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_PTX_MUTANTS_H_
#define PARTITA_TESTS_KERNELS_PTX_MUTANTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

struct PtxMutant {
  std::string what;  // "line 41: `add.s32 %r1, %r2, 3;` -> `sub.s32 ...`"
  std::string text;
};

// Of each line with an instruction of its own: one without it, those with
// another instruction of the same operands, with swapped operands, with a
// number that is larger by one, and with the opposite guard.
std::vector<PtxMutant> MutantsOf(absl::string_view ptx);

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_PTX_MUTANTS_H_
