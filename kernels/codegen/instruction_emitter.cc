// A switch over opcodes. Each is one LLVM instruction or intrinsic, without
// fast-math flags, so every lane of every loop computes the same bits.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/instruction_emitter.h"

#include <bit>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace partita {

llvm::Type* InstructionEmitter::Lanes(llvm::Type* type) const {
  if (lanes_ == 1) return type;
  return llvm::FixedVectorType::get(type, lanes_);
}

llvm::Type* InstructionEmitter::RegisterType(ScalarType type) const {
  return type == ScalarType::kBool ? ir_.getInt1Ty() : MemoryType(type);
}

llvm::Type* InstructionEmitter::MemoryType(ScalarType type) const {
  switch (type) {
    case ScalarType::kF32:
      return ir_.getFloatTy();
    case ScalarType::kF64:
      return ir_.getDoubleTy();
    case ScalarType::kI32:
    case ScalarType::kU32:
      return ir_.getInt32Ty();
    case ScalarType::kI64:
    case ScalarType::kU64:
      return ir_.getInt64Ty();
    case ScalarType::kBF16:
    case ScalarType::kF16:
    case ScalarType::kI16:
    case ScalarType::kU16:
      return ir_.getInt16Ty();
    case ScalarType::kBool:
    case ScalarType::kI8:
    case ScalarType::kU8:
      break;
  }
  return ir_.getInt8Ty();
}

std::vector<llvm::Value*> InstructionEmitter::Emit(
    const ProgramBody& body, const std::function<llvm::Value*(int)>& load) {
  std::vector<llvm::Value*> values;
  for (const Instruction& i : body.instructions) {
    if (i.op == Opcode::kLoad) {
      values.push_back(load(static_cast<int>(i.bits)));
      continue;
    }
    const auto value = [&](int32_t id) {
      return id < 0 ? nullptr : values[id];
    };
    const ScalarType from = i.a < 0 ? i.type : body.instructions[i.a].type;
    values.push_back(EmitOne(i, from, value(i.a), value(i.b), value(i.c)));
  }
  std::vector<llvm::Value*> results;
  for (int32_t result : body.results) results.push_back(values[result]);
  return results;
}

llvm::Value* InstructionEmitter::EmitOne(const Instruction& i, ScalarType from,
                                         llvm::Value* a, llvm::Value* b,
                                         llvm::Value* c) {
  if (i.op == Opcode::kConstant) return EmitConstant(i);
  if (i.op == Opcode::kSelect) return ir_.CreateSelect(a, b, c);
  if (i.op == Opcode::kCast) return EmitCast(from, i.type, a);
  if (i.op == Opcode::kBitcast) {
    return ir_.CreateBitCast(a, Lanes(RegisterType(i.type)));
  }
  if (IsComparison(i.op)) return EmitComparison(i.op, from, a, b);
  if (IsFloatType(i.type)) return EmitFloat(i, a, b, c);
  return EmitInteger(i, a, b);
}

llvm::Value* InstructionEmitter::EmitConstant(const Instruction& i) {
  llvm::Type* type = RegisterType(i.type);
  llvm::Constant* value = nullptr;
  if (i.type == ScalarType::kF32) {
    value = llvm::ConstantFP::get(
        ir_.getContext(),
        llvm::APFloat(std::bit_cast<float>(static_cast<uint32_t>(i.bits))));
  } else if (i.type == ScalarType::kF64) {
    value = llvm::ConstantFP::get(ir_.getContext(),
                                  llvm::APFloat(std::bit_cast<double>(i.bits)));
  } else {
    value = llvm::ConstantInt::get(type, i.bits);
  }
  if (lanes_ == 1) return value;
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_),
                                        value);
}

llvm::Value* InstructionEmitter::EmitFloat(const Instruction& i, llvm::Value* a,
                                           llvm::Value* b, llvm::Value* c) {
  using llvm::Intrinsic::ID;
  const auto unary = [&](ID id) { return ir_.CreateUnaryIntrinsic(id, a); };
  switch (i.op) {
    case Opcode::kAdd:
      return ir_.CreateFAdd(a, b);
    case Opcode::kSub:
      return ir_.CreateFSub(a, b);
    case Opcode::kMul:
      return ir_.CreateFMul(a, b);
    case Opcode::kDiv:
      return ir_.CreateFDiv(a, b);
    case Opcode::kNeg:
      return ir_.CreateFNeg(a);
    case Opcode::kAbs:
      return unary(llvm::Intrinsic::fabs);
    case Opcode::kSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Opcode::kFloor:
      return unary(llvm::Intrinsic::floor);
    case Opcode::kCeil:
      return unary(llvm::Intrinsic::ceil);
    case Opcode::kRint:
      return unary(llvm::Intrinsic::roundeven);
    default:
      return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()},
                                 {a, b, c});
  }
}

llvm::Value* InstructionEmitter::EmitInteger(const Instruction& i,
                                             llvm::Value* a, llvm::Value* b) {
  const bool is_unsigned = IsUnsignedType(i.type);
  // The second one, which may be a constant of the instruction.
  const auto operand = [&]() -> llvm::Value* {
    return b != nullptr ? b : llvm::ConstantInt::get(a->getType(), i.bits);
  };
  switch (i.op) {
    case Opcode::kAdd:
      return ir_.CreateAdd(a, b);
    case Opcode::kSub:
      return ir_.CreateSub(a, b);
    case Opcode::kMul:
      return ir_.CreateMul(a, b);
    case Opcode::kNeg:
      return ir_.CreateNeg(a);
    case Opcode::kAbs:
      if (is_unsigned) return a;
      // The least integer wraps to itself and is not poison here.
      return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, ir_.getFalse());
    case Opcode::kAnd:
      return ir_.CreateAnd(a, b);
    case Opcode::kOr:
      return ir_.CreateOr(a, b);
    case Opcode::kXor:
      return ir_.CreateXor(a, b);
    case Opcode::kShiftLeft:
      return ir_.CreateShl(a, operand());
    case Opcode::kQuotient:
      return is_unsigned || b == nullptr ? ir_.CreateUDiv(a, operand())
                                         : ir_.CreateSDiv(a, b);
    case Opcode::kRemainder:
      return is_unsigned || b == nullptr ? ir_.CreateURem(a, operand())
                                         : ir_.CreateSRem(a, b);
    default:
      return is_unsigned ? ir_.CreateLShr(a, operand())
                         : ir_.CreateAShr(a, operand());
  }
}

llvm::Value* InstructionEmitter::EmitComparison(Opcode op, ScalarType type,
                                                llvm::Value* a,
                                                llvm::Value* b) {
  const bool is_float = IsFloatType(type);
  const bool is_signed = !IsUnsignedType(type);
  switch (op) {
    case Opcode::kLess:
      if (is_float) return ir_.CreateFCmpOLT(a, b);
      return is_signed ? ir_.CreateICmpSLT(a, b) : ir_.CreateICmpULT(a, b);
    case Opcode::kLessEqual:
      if (is_float) return ir_.CreateFCmpOLE(a, b);
      return is_signed ? ir_.CreateICmpSLE(a, b) : ir_.CreateICmpULE(a, b);
    case Opcode::kEqual:
      return is_float ? ir_.CreateFCmpOEQ(a, b) : ir_.CreateICmpEQ(a, b);
    default:
      return is_float ? ir_.CreateFCmpUNE(a, b) : ir_.CreateICmpNE(a, b);
  }
}

llvm::Value* InstructionEmitter::EmitCast(ScalarType from, ScalarType to,
                                          llvm::Value* a) {
  llvm::Type* type = Lanes(RegisterType(to));
  llvm::Type* half = Lanes(ir_.getHalfTy());
  if (from == ScalarType::kF16 && to == ScalarType::kF32) {
    return ir_.CreateFPExt(ir_.CreateBitCast(a, half), type);
  }
  if (from == ScalarType::kF32 && to == ScalarType::kF16) {
    return ir_.CreateBitCast(ir_.CreateFPTrunc(a, half), type);
  }
  if (to == ScalarType::kBool) {
    return EmitComparison(Opcode::kNotEqual, from, a,
                          llvm::Constant::getNullValue(a->getType()));
  }
  if (IsFloatType(from)) {
    if (IsFloatType(to)) return ir_.CreateFPCast(a, type);
    return ir_.CreateIntrinsic(IsUnsignedType(to) ? llvm::Intrinsic::fptoui_sat
                                                  : llvm::Intrinsic::fptosi_sat,
                               {type, a->getType()}, {a});
  }
  if (from == ScalarType::kBool || IsUnsignedType(from)) {
    return IsFloatType(to) ? ir_.CreateUIToFP(a, type)
                           : ir_.CreateZExtOrTrunc(a, type);
  }
  return IsFloatType(to) ? ir_.CreateSIToFP(a, type)
                         : ir_.CreateSExtOrTrunc(a, type);
}

}  // namespace partita
