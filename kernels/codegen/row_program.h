// What one generated kernel over rows computes, such as a softmax: plain data,
// for any emitter.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_ROW_PROGRAM_H_
#define PARTITA_KERNELS_CODEGEN_ROW_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/codegen/program.h"

namespace partita {

// Makes one value of two. Maximum and minimum with a NaN are NaN; of zeros with
// two signs they are the first.
enum class Combiner : uint8_t { kSum, kProduct, kMax, kMin };

// A load's number counts the program's operands, then the row scalars that are
// known where the body runs.
struct RowPhase {
  friend bool operator==(const RowPhase&, const RowPhase&) = default;
  // Over the elements of a row. Its results are numbers, and are reduced.
  ProgramBody elements;
  std::vector<Combiner> combiners;  // one for each of these results
  // Once a row, after the reductions. Reads of the operands only those that are
  // the same for a whole row.
  ProgramBody scalars;
};

// Rows that are independent of one another. Each phase computes scalars of a
// row: the reductions, then the results of its scalar body; later phases read
// them. The last body stores elements. No element is kept from phase to phase:
// each body loads and computes what it needs.
//
// The order of a reduction depends on the row's length alone: element i of a
// row goes to accumulator i mod NumAccumulators(length), in increasing order.
// An accumulator begins with StartBits. Then neighbours are joined, 2k with
// 2k + 1, until one is left.
struct RowProgram {
  friend bool operator==(const RowProgram&, const RowProgram&) = default;
  std::string name;           // of the function
  std::vector<int64_t> rows;  // loops, outermost first
  // Loops over a row: at least one, and none of them is empty.
  std::vector<int64_t> columns;
  std::vector<ProgramOperand> operands;  // strides by loop: rows, then columns
  std::vector<RowPhase> phases;
  // One element of each of its results for each element of each row. All are
  // dense in loop order. One may be stored over an operand with its strides.
  ProgramBody elements;
  // Row scalars that are results, after those above: one element for each row.
  std::vector<int32_t> row_results;
};

int64_t NumRows(const RowProgram& program);
int64_t RowLength(const RowProgram& program);
// The greatest index of an element of an operand that is read, or the number of
// elements of all rows if that is more.
int64_t GreatestIndex(const RowProgram& program);
// A power of two, at most 1024 and at most the length. Accumulators of long
// rows have four elements each, so that a GPU has many threads for a row.
int64_t NumAccumulators(int64_t length);

// What an accumulator begins with: its bits.
uint64_t StartBits(Combiner combiner, ScalarType type);
// The one value (result 0) of an earlier one (load 0) and a later one (load 1).
ProgramBody BodyOf(Combiner combiner, ScalarType type);

// The types of all row scalars, in order.
std::vector<ScalarType> RowScalarTypes(const RowProgram& program);
// Those of all results: of elements, then of rows.
std::vector<ScalarType> ResultTypes(const RowProgram& program);
// How many elements result `i` has.
int64_t NumResultElements(const RowProgram& program, size_t i);
// True if the operand's element is the same for a whole row.
bool IsRowConstant(const RowProgram& program, const ProgramOperand& operand);
// By the program's loops: those of rows, or those of columns.
std::vector<int64_t> RowStrides(const RowProgram& program,
                                const ProgramOperand& operand);
std::vector<int64_t> ColumnStrides(const RowProgram& program,
                                   const ProgramOperand& operand);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_ROW_PROGRAM_H_
