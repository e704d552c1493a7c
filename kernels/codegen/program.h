// What one generated elementwise kernel computes: plain data, for any emitter.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_PROGRAM_H_
#define PARTITA_KERNELS_CODEGEN_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

namespace partita {

// The types of registers. A bool takes one byte in memory, 0 or 1. A 16-bit
// float is its bits, as an integer. It and the integers of 8 and 16 bits can be
// moved and cast: programs compute in f32 and i32 (narrow_types.h).
enum class ScalarType : uint8_t {
  kF32,
  kF64,
  kI32,
  kI64,
  kU64,
  kBool,
  kBF16,
  kF16,
  kU8,
  kI8,
  kI16,
  kU16,
  kU32,
};

// Each has one meaning in IEEE 754 or two's complement arithmetic, so all
// emitters and the interpreter agree bit for bit, except for the bits of NaNs
// that GPUs compute. There are no library functions: float_functions.h expands
// them.
enum class Opcode : uint8_t {
  kConstant,  // bits
  kLoad,      // operand number `bits`
  kAdd,       // integers wrap
  kSub,
  kMul,
  kDiv,  // of floats; kQuotient and kRemainder are of integers
  kFma,  // a * b + c, rounded once
  kNeg,
  kAbs,
  kSqrt,
  kFloor,
  kCeil,
  kRint,       // to even
  kLess,       // of NaN: false
  kLessEqual,  // of NaN: false
  kEqual,      // of NaN: false
  kNotEqual,   // of NaN: true
  kSelect,     // a ? b : c
  kAnd,
  kOr,
  kXor,
  // By b, which is less than the type's bits; without b by constant `bits`.
  kShiftLeft,
  kShiftRight,  // a signed type's sign comes in
  kBitcast,     // f32 <-> i32, f64 <-> i64
  // rounded once; to integers truncated and clamped, NaN to 0; integers wrap;
  // to bool: true unless zero; f16 <-> f32: NaN keeps the upper bits of its
  // payload, except on GPUs
  kCast,
  // Of integers, toward zero, with the sign of a: by b, which is not 0, and not
  // -1 if signed; without b by constant `bits`, of an a that is not negative.
  kQuotient,
  kRemainder,
  // In index programs only (index_program.h).
  kCoordinate,  // of loop number `bits`
  kElement,     // number a of operand `bits` if b is true (or b = -1), else 0
};

// Of an element in memory.
inline int64_t BytesOf(ScalarType type) {
  switch (type) {
    case ScalarType::kF64:
    case ScalarType::kI64:
    case ScalarType::kU64:
      return 8;
    case ScalarType::kF32:
    case ScalarType::kI32:
    case ScalarType::kU32:
      return 4;
    case ScalarType::kBF16:
    case ScalarType::kF16:
    case ScalarType::kI16:
    case ScalarType::kU16:
      return 2;
    case ScalarType::kBool:
    case ScalarType::kI8:
    case ScalarType::kU8:
      break;
  }
  return 1;
}

inline bool IsFloatType(ScalarType type) {
  return type == ScalarType::kF32 || type == ScalarType::kF64;
}

// A bool is none.
inline bool IsUnsignedType(ScalarType type) {
  return type == ScalarType::kU8 || type == ScalarType::kU16 ||
         type == ScalarType::kU32 || type == ScalarType::kU64;
}

inline bool IsComparison(Opcode op) {
  return op == Opcode::kLess || op == Opcode::kLessEqual ||
         op == Opcode::kEqual || op == Opcode::kNotEqual;
}

struct Instruction {
  friend bool operator==(const Instruction&, const Instruction&) = default;
  Opcode op = Opcode::kConstant;
  ScalarType type = ScalarType::kF32;  // of the result
  int32_t a = -1;                      // earlier instructions
  int32_t b = -1;
  int32_t c = -1;
  uint64_t bits = 0;
};

struct ProgramOperand {
  friend bool operator==(const ProgramOperand&,
                         const ProgramOperand&) = default;
  ScalarType type = ScalarType::kF32;
  std::vector<int64_t> strides;  // in elements, by loop; 0: the same element
};

// What is computed from the values that its loads read.
struct ProgramBody {
  friend bool operator==(const ProgramBody&, const ProgramBody&) = default;
  std::vector<Instruction> instructions;
  std::vector<int32_t> results;  // the instructions that compute them
};

// One element of each result for each point of the loops, outermost first. All
// results are dense in loop order. At each point all operands are read before
// any result is written.
struct ElementwiseProgram : ProgramBody {
  friend bool operator==(const ElementwiseProgram&,
                         const ElementwiseProgram&) = default;
  std::string name;  // of the function
  std::vector<int64_t> loops;
  std::vector<ProgramOperand> operands;
};

// The signature of every program compiled for a CPU: results [begin, end), in
// elements; for rows (row_program.h) in rows.
using ElementwiseEntry = void (*)(void* const* operands, void* const* results,
                                  int64_t begin, int64_t end);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_PROGRAM_H_
