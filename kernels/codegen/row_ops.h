// Ops over rows as programs: reductions, softmax and norms.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_ROW_OPS_H_
#define PARTITA_KERNELS_CODEGEN_ROW_OPS_H_

#include <cstdint>

#include "kernels/codegen/row_program.h"

namespace partita {

// Each adds bodies and results to a program with loops and operands. Operand 0
// is x; results have its type. Sums of 16-bit floats are sums of f32. `has_fma`
// as for ProgramBuilder.

// One value for each row. Means are those of floats.
enum class RowReduction : uint8_t { kSum, kProduct, kMax, kMin, kMean };
void BuildReduction(RowReduction reduction, bool has_fma, RowProgram& program);

// Of f32 and of 16-bit floats: exp(x - max x) / sum exp(x - max x), and its
// logarithm.
void BuildSoftmax(bool has_fma, RowProgram& program);
void BuildLogSoftmax(bool has_fma, RowProgram& program);

// Of floats: (x - mean) / sqrt(variance + epsilon) times operand 1, plus
// operand 2 if there is one. The variance is the mean of squared differences.
void BuildLayerNorm(double epsilon, bool has_fma, RowProgram& program);
// The same without mean and differences: an RMS norm.
void BuildRmsNorm(double epsilon, bool has_fma, RowProgram& program);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_ROW_OPS_H_
