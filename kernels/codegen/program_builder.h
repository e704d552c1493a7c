// Writes programs as formulas over registers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_PROGRAM_BUILDER_H_
#define PARTITA_KERNELS_CODEGEN_PROGRAM_BUILDER_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "kernels/codegen/program.h"

namespace partita {

class ProgramBuilder;

// A register of a program under construction; `a * b + c` adds instructions.
struct Register {
  ProgramBuilder* builder = nullptr;
  int32_t id = -1;
  ScalarType type = ScalarType::kF32;
};

// Emits equal instructions once.
class ProgramBuilder {
 public:
  // True if the processor has fused multiply-add.
  explicit ProgramBuilder(bool has_fma) : has_fma_(has_fma) {}
  bool has_fma() const { return has_fma_; }
  // Casts between f16 and f32; the same processors have them.
  bool converts_f16() const { return has_fma_; }

  Register Constant(ScalarType type, double value);
  Register Integer(ScalarType type, int64_t value);
  Register Load(ScalarType type, int operand);
  Register Write(Instruction instruction);
  const Instruction& instruction(int32_t id) const { return written_[id]; }

  // Sets the instructions of `body` to those that `results` need, in order.
  // With fma, a product is fused into the sum that is its only reader; without,
  // every fma becomes a product and a sum.
  void Finish(const std::vector<Register>& results, ProgramBody& body) const;

 private:
  using Key =
      std::tuple<Opcode, ScalarType, int32_t, int32_t, int32_t, uint64_t>;
  const bool has_fma_;
  std::vector<Instruction> written_;
  std::map<Key, int32_t> known_;
};

Register operator+(Register a, Register b);
Register operator-(Register a, Register b);
Register operator*(Register a, Register b);
Register operator/(Register a, Register b);
Register operator-(Register a);
Register operator+(Register a, double b);
Register operator-(Register a, double b);
Register operator*(Register a, double b);
Register operator-(double a, Register b);
Register operator/(double a, Register b);
Register operator<(Register a, Register b);
Register operator<=(Register a, Register b);
Register operator<(Register a, double b);
Register operator&(Register a, Register b);
Register operator|(Register a, Register b);
Register operator^(Register a, Register b);

Register Equal(Register a, Register b);
Register NotEqual(Register a, Register b);
Register Fma(Register a, Register b, Register c);
Register Fma(Register a, double b, Register c);
Register Fma(Register a, Register b, double c);
Register Unary(Opcode op, Register a);
Register Select(Register condition, Register a, Register b);
Register Shift(Opcode op, Register a, int bits);
Register Shift(Opcode op, Register a, Register bits);
// Of integers, as the opcodes.
Register Quotient(Register a, Register b);
Register Remainder(Register a, Register b);
Register Bitcast(Register a, ScalarType type);
Register Cast(Register a, ScalarType type);
Register IsNan(Register a);
// A constant of a's type.
Register Like(Register a, double value);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_PROGRAM_BUILDER_H_
