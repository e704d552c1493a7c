// One instruction of a program as LLVM IR over vectors, for any target.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INSTRUCTION_EMITTER_H_
#define PARTITA_KERNELS_CODEGEN_INSTRUCTION_EMITTER_H_

#include <functional>
#include <vector>

#include "kernels/codegen/program.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {

// Does not know loops and memory: the caller loads.
class InstructionEmitter {
 public:
  // `lanes` elements at a time; 1 for targets whose threads are the lanes.
  InstructionEmitter(llvm::IRBuilder<>& ir, unsigned lanes)
      : ir_(ir), lanes_(lanes) {}

  // Emits at the builder's position the values of the results for
  // `lanes` elements. `load` returns those of an operand, bools as i1.
  std::vector<llvm::Value*> Emit(
      const ProgramBody& body,
      const std::function<llvm::Value*(int operand)>& load);

  // A register's type; a bool is one bit.
  llvm::Type* RegisterType(ScalarType type) const;
  // An element's type in memory; a bool is one byte.
  llvm::Type* MemoryType(ScalarType type) const;
  llvm::Type* Lanes(llvm::Type* type) const;

  // One instruction that reads no memory: `from` is the type of `a`, or the
  // instruction's own without one.
  llvm::Value* EmitOne(const Instruction& i, ScalarType from, llvm::Value* a,
                       llvm::Value* b, llvm::Value* c);

 private:
  llvm::Value* EmitConstant(const Instruction& i);
  llvm::Value* EmitFloat(const Instruction& i, llvm::Value* a, llvm::Value* b,
                         llvm::Value* c);
  llvm::Value* EmitInteger(const Instruction& i, llvm::Value* a,
                           llvm::Value* b);
  llvm::Value* EmitComparison(Opcode op, ScalarType type, llvm::Value* a,
                              llvm::Value* b);
  llvm::Value* EmitCast(ScalarType from, ScalarType to, llvm::Value* a);

  llvm::IRBuilder<>& ir_;
  unsigned lanes_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INSTRUCTION_EMITTER_H_
