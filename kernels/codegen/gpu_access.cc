// Vectors of words, and elements inside words.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_access.h"

#include <algorithm>

#include "kernels/codegen/gpu_kernel.h"

namespace partita {
namespace {

int CountOfAccess(ScalarType type, int count) {
  return std::min(count, static_cast<int>(kWidestGpuAccess / BytesOf(type)));
}

}  // namespace

llvm::Value* GpuAccess::Address(ScalarType type, llvm::Value* base,
                                llvm::Value* at) {
  return ir_.CreateGEP(emitter_.MemoryType(type), base,
                       ir_.CreateZExt(at, ir_.getInt64Ty()));
}

GpuAccess::Shape GpuAccess::ShapeOf(ScalarType type, int count) const {
  const int bytes = static_cast<int>(BytesOf(type));
  const llvm::Align align(static_cast<uint64_t>(bytes) * count);
  if (bytes >= 4 || count == 1) {
    return {emitter_.MemoryType(type), count, 1, align};
  }
  const int word_bytes = std::min(4, bytes * count);
  return {ir_.getIntNTy(8 * word_bytes), bytes * count / word_bytes,
          word_bytes / bytes, align};
}

llvm::Type* GpuAccess::AccessType(const Shape& shape) {
  if (shape.words == 1) return shape.word;
  return llvm::FixedVectorType::get(shape.word, shape.words);
}

std::vector<llvm::Value*> GpuAccess::Load(ScalarType type, llvm::Value* base,
                                          llvm::Value* at, int count) {
  const int step = CountOfAccess(type, count);
  std::vector<llvm::Value*> elements;
  for (int i = 0; i < count; i += step) {
    LoadOnce(type, base,
             ir_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), i)), step,
             elements);
  }
  return elements;
}

void GpuAccess::LoadOnce(ScalarType type, llvm::Value* base, llvm::Value* at,
                         int count, std::vector<llvm::Value*>& elements) {
  const Shape shape = ShapeOf(type, count);
  llvm::Value* all = ir_.CreateAlignedLoad(
      AccessType(shape), Address(type, base, at), shape.align);
  for (int i = 0; i < shape.words; ++i) {
    llvm::Value* word =
        shape.words == 1 ? all : ir_.CreateExtractElement(all, i);
    for (int j = 0; j < shape.elements_of_word; ++j) {
      elements.push_back(shape.elements_of_word == 1 ? word
                                                     : FromWord(type, word, j));
    }
  }
}

llvm::Value* GpuAccess::FromWord(ScalarType type, llvm::Value* word, int j) {
  const uint64_t shift = 8 * BytesOf(type) * j;
  return ir_.CreateTrunc(ir_.CreateLShr(word, shift),
                         emitter_.MemoryType(type));
}

void GpuAccess::Store(ScalarType type,
                      const std::vector<llvm::Value*>& elements,
                      llvm::Value* base, llvm::Value* at) {
  const int count = static_cast<int>(elements.size());
  const int step = CountOfAccess(type, count);
  for (int i = 0; i < count; i += step) {
    StoreOnce(type, &elements[i], step, base,
              ir_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), i)));
  }
}

void GpuAccess::StoreOnce(ScalarType type, llvm::Value* const* elements,
                          int count, llvm::Value* base, llvm::Value* at) {
  const Shape shape = ShapeOf(type, count);
  llvm::Value* all = nullptr;
  for (int i = 0; i < shape.words; ++i) {
    llvm::Value* word =
        ToWord(type, shape, elements + i * shape.elements_of_word);
    if (shape.words == 1) {
      all = word;
    } else {
      if (all == nullptr) all = llvm::PoisonValue::get(AccessType(shape));
      all = ir_.CreateInsertElement(all, word, i);
    }
  }
  ir_.CreateAlignedStore(all, Address(type, base, at), shape.align);
}

llvm::Value* GpuAccess::ToWord(ScalarType type, const Shape& shape,
                               llvm::Value* const* elements) {
  if (shape.elements_of_word == 1) return elements[0];
  llvm::Value* word = nullptr;
  for (int j = 0; j < shape.elements_of_word; ++j) {
    llvm::Value* element = ir_.CreateShl(
        ir_.CreateZExt(elements[j], shape.word), 8 * BytesOf(type) * j);
    word = word == nullptr ? element : ir_.CreateOr(word, element);
  }
  return word;
}

llvm::Value* GpuAccess::ToRegister(ScalarType type, llvm::Value* memory) {
  if (type != ScalarType::kBool) return memory;
  return ir_.CreateICmpNE(memory, ir_.getInt8(0));
}

llvm::Value* GpuAccess::ToMemory(ScalarType type, llvm::Value* value) {
  if (type != ScalarType::kBool) return value;
  return ir_.CreateZExt(value, ir_.getInt8Ty());
}

llvm::Value* GpuAccess::GroupsAreAligned(const std::vector<Array>& arrays,
                                         int group) {
  llvm::Value* beyond = ir_.getInt64(0);
  for (const Array& array : arrays) {
    const int64_t bytes =
        std::min(kWidestGpuAccess, group * BytesOf(array.type));
    llvm::Value* bits = ir_.CreatePtrToInt(array.address, ir_.getInt64Ty());
    beyond = ir_.CreateOr(beyond, ir_.CreateAnd(bits, ir_.getInt64(bytes - 1)));
  }
  return ir_.CreateICmpEQ(beyond, ir_.getInt64(0));
}

}  // namespace partita
