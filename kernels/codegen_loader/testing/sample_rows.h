// Programs over rows of many lengths, dtypes and strides, with operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_ROWS_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_ROWS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/codegen/row_ops.h"
#include "kernels/codegen/row_program.h"
#include "kernels/codegen_loader/testing/program_signature.h"

namespace partita {

struct RowSample {
  std::string what;  // "softmax of f32, 3 rows of 1000"
  RowProgram program;
  std::vector<std::vector<std::byte>> operands;
};

// The programs below, with names of their own. The same in every run.
std::vector<RowSample> SampleRows();

// Every reduction of every type that it takes, and sums of rows of 1 to 3000.
std::vector<RowSample> SamplesOfReductions();
// Softmax, its logarithm, layer and RMS norms.
std::vector<RowSample> SamplesOfRowOps();
// Operands that are broadcast, transposed or read with a stride; several column
// loops, reductions and results; formulas before and after.
std::vector<RowSample> SamplesOfRowStrides();

// Loops, strides, dtypes and formulas that are drawn.
std::vector<RowSample> SamplesOfDrawnRows(int count);

RowSample MakeRowSample(std::string what, RowProgram program);

// Dense rows of x, then operands of these types that all rows share. No bodies.
RowProgram DenseRows(int64_t rows, int64_t length, ScalarType x,
                     std::vector<ScalarType> shared = {});

// The results of the program's interpreter.
std::vector<std::vector<std::byte>> InterpretedResults(const RowSample& sample);

absl::Status CheckResults(const RowSample& sample,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_SAMPLE_ROWS_H_
