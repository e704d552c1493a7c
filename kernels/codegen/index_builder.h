// Writes the bodies of an index program as formulas over registers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INDEX_BUILDER_H_
#define PARTITA_KERNELS_CODEGEN_INDEX_BUILDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kernels/codegen/index_program.h"
#include "kernels/codegen/program_builder.h"

namespace partita {

// What a body may read, and the arithmetic of its indices.
class IndexReader {
 public:
  IndexReader(const IndexProgram& program, ProgramBuilder& builder)
      : program_(program), builder_(builder) {}

  Register Index(int64_t value) const;
  // Of loop number `loop`, or of a step loop.
  Register Loop(size_t loop) const;
  Register Step(size_t step) const;
  std::vector<Register> Loops() const;
  // The sum of coordinates times strides, plus `offset`.
  Register Offset(absl::Span<const Register> coordinates,
                  absl::Span<const int64_t> strides, int64_t offset = 0) const;
  // True from 0 to extent - 1.
  Register IsInside(Register index, int64_t extent) const;

  // An operand's element as it is in memory; where `condition` is false, 0.
  Register Element(size_t operand, Register offset,
                   std::optional<Register> condition = std::nullopt) const;
  // The same as a number: the f32 of a 16-bit float, the i32 of a small integer
  // or a bool.
  Register Number(size_t operand, Register offset,
                  std::optional<Register> condition = std::nullopt) const;
  // The type of such a number.
  ScalarType NumberType(size_t operand) const;

  // What `first` or `step` computed last. Where `first` runs there is none.
  Register State(size_t i) const;
  // In `step`: a sum that was set. In a sum's body: the number of the term, and
  // the sum of the terms before it.
  Register Sum(size_t i) const;
  Register Term() const;
  Register SumSoFar(ScalarType type) const;

  Register Constant(ScalarType type, double value) const;
  Register Bits(ScalarType type, uint64_t bits) const;

 private:
  const IndexProgram& program_;
  ProgramBuilder& builder_;
};

using IndexFormula =
    std::function<std::vector<Register>(const IndexReader& read)>;

// Each sets a body of a program that has loops, steps and operands. The order
// is first, sums, step, last. `has_fma` as for ProgramBuilder.
void SetFirst(const IndexFormula& formula, bool has_fma, IndexProgram& program);
void AddSum(int64_t terms, const IndexFormula& formula, bool has_fma,
            IndexProgram& program);
void SetStep(const IndexFormula& formula, bool has_fma, IndexProgram& program);
void SetLast(const IndexFormula& formula, bool has_fma, IndexProgram& program);

// Of indices that are not negative.
Register Quotient(Register a, int64_t b);
Register Remainder(Register a, int64_t b);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INDEX_BUILDER_H_
