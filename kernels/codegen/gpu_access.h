// Accesses of neighbouring elements in a GPU's memory, as LLVM IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_ACCESS_H_
#define PARTITA_KERNELS_CODEGEN_GPU_ACCESS_H_

#include <vector>

#include "kernels/codegen/instruction_emitter.h"
#include "kernels/codegen/program.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {

// Elements are as in memory: bools are bytes.
class GpuAccess {
 public:
  GpuAccess(llvm::IRBuilder<>& ir, const InstructionEmitter& emitter)
      : ir_(ir), emitter_(emitter) {}

  // `count` elements, a power of two, from index `at` on: in one access, or in
  // several of 16 bytes. Their address is a multiple of an access's size.
  std::vector<llvm::Value*> Load(ScalarType type, llvm::Value* base,
                                 llvm::Value* at, int count);
  void Store(ScalarType type, const std::vector<llvm::Value*>& elements,
             llvm::Value* base, llvm::Value* at);

  // The first element of an operand or result.
  struct Array {
    llvm::Value* address;
    ScalarType type;
  };
  // True if groups of `group` elements can be accessed as above in all arrays.
  llvm::Value* GroupsAreAligned(const std::vector<Array>& arrays, int group);

  // The bool of a byte, the byte of a bool; others as they are.
  llvm::Value* ToRegister(ScalarType type, llvm::Value* memory);
  llvm::Value* ToMemory(ScalarType type, llvm::Value* value);

 private:
  // What one access of some elements is made of: elements of four bytes and
  // more; of smaller ones, words that hold several.
  struct Shape {
    llvm::Type* word;  // the vector's element
    int words;
    int elements_of_word;
    llvm::Align align;
  };
  Shape ShapeOf(ScalarType type, int count) const;
  static llvm::Type* AccessType(const Shape& shape);
  llvm::Value* Address(ScalarType type, llvm::Value* base, llvm::Value* at);

  void LoadOnce(ScalarType type, llvm::Value* base, llvm::Value* at, int count,
                std::vector<llvm::Value*>& elements);
  void StoreOnce(ScalarType type, llvm::Value* const* elements, int count,
                 llvm::Value* base, llvm::Value* at);
  // Element `j` of a word.
  llvm::Value* FromWord(ScalarType type, llvm::Value* word, int j);
  // One word of an access, from its elements.
  llvm::Value* ToWord(ScalarType type, const Shape& shape,
                      llvm::Value* const* elements);

  llvm::IRBuilder<>& ir_;
  const InstructionEmitter& emitter_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_ACCESS_H_
