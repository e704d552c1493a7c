// A program of any kind, as emitters take it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_ANY_PROGRAM_H_
#define PARTITA_KERNELS_CODEGEN_ANY_PROGRAM_H_

#include <variant>

#include "kernels/codegen/index_program.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/row_program.h"

namespace partita {

using AnyProgram =
    std::variant<ElementwiseProgram, RowProgram, IndexProgram, JoinedProgram>;

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_ANY_PROGRAM_H_
