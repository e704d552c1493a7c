// One instruction of a program, computed from the values of others.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INTERPRET_INSTRUCTION_H_
#define PARTITA_KERNELS_CODEGEN_INTERPRET_INSTRUCTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/codegen/program.h"

namespace partita {

// The result's bits from those of its operands, for every instruction but
// loads. `from` is the type of operand a, or the instruction's own without one.
uint64_t ComputeInstruction(const Instruction& i, ScalarType from, uint64_t a,
                            uint64_t b, uint64_t c);

// Sets `registers` to the values of a body's instructions; `load` returns the
// bits of what a number stands for.
template <typename Load>
void InterpretBody(const ProgramBody& body, const Load& load,
                   std::vector<uint64_t>& registers) {
  registers.resize(body.instructions.size());
  const auto value = [&](int32_t id) { return id < 0 ? 0 : registers[id]; };
  for (size_t at = 0; at < registers.size(); ++at) {
    const Instruction& i = body.instructions[at];
    if (i.op == Opcode::kLoad) {
      registers[at] = load(static_cast<int>(i.bits));
      continue;
    }
    const ScalarType from = i.a < 0 ? i.type : body.instructions[i.a].type;
    registers[at] =
        ComputeInstruction(i, from, value(i.a), value(i.b), value(i.c));
  }
}

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INTERPRET_INSTRUCTION_H_
