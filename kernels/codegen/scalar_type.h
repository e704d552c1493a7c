// The type of a program's registers for elements of a dtype.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_SCALAR_TYPE_H_
#define PARTITA_KERNELS_CODEGEN_SCALAR_TYPE_H_

#include "graph/dtype.h"
#include "kernels/codegen/program.h"

namespace partita {

ScalarType ScalarTypeOf(DType dtype);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_SCALAR_TYPE_H_
