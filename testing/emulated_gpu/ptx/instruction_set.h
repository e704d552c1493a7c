// The instructions of PTX that are interpreted. All others are refused.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_INSTRUCTION_SET_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_INSTRUCTION_SET_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace partita::ptx {

enum class Type : uint8_t {
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kBF16,
  kF32,
  kF64,
};

// By its name without a dot: "f32". False if there is none.
bool FindType(absl::string_view name, Type& type);
std::string TypeName(Type type);
// 1, 2, 4 or 8; a predicate has 1.
int BytesOf(Type type);
bool IsFloat(Type type);
bool IsSigned(Type type);

// Which bits a NaN result has. The PTX ISA leaves them open.
enum class NanRules : uint8_t {
  kCanonical,  // all ones but the sign
  // As measured (docs/reference/gpu_facts.md): f32 and f16 are canonical; an
  // f64 is a NaN operand, or fff8000000000000 if there was none.
  kH100,
};

// What an instruction computes from up to three operands. Values are bits, in
// the low bytes of a word; the bytes above are 0.
using Evaluate = uint64_t (*)(NanRules nan, uint64_t a, uint64_t b, uint64_t c);

// What an instruction does with operands.
enum class Action : uint8_t {
  kCompute,  // operand 0 = evaluate(the others)
  kSelect,   // operand 0 = operand 3 ? operand 1 : operand 2
  kPack,     // operand 0 = the others, the first in the low bits
  kUnpack,   // the operands before the last = parts of the last
  kLoadParameter,
  kLoad,
  kStore,
  kBranch,
  kReturn,
  kLoadShared,
  kStoreShared,
  kBarrier,  // of the block
  kShuffle,  // operand 0 = operand 1 of another thread of the warp
};

// Which thread's value a shuffle gives.
enum class ShuffleMode : uint8_t { kUp, kDown, kButterfly, kIndex };

// One instruction with all its modifiers, as "add.rn.f32".
struct Form {
  std::string text;
  Action action = Action::kCompute;
  // One letter for each operand:
  //   d  a register of `type`       D  one of `type`, with twice its bytes
  //   p  a predicate register       a  a value of `type`
  //   f  a value of `from`          i  a value of type u32
  //   q  a predicate register, read v  a value with half the bytes of `type`
  //   u  a register with half the bytes of `type`
  //   l  registers, loaded          s  values, stored
  //   M  an address in memory       P  one of a parameter
  //   S  one in shared memory       L  a label
  std::string signature;
  Type type = Type::kB32;
  Type from = Type::kB32;  // the second type, if there are two
  int vector = 1;          // 2 or 4 for accesses of several
  ShuffleMode shuffle = ShuffleMode::kIndex;
  Evaluate evaluate = nullptr;
};

// Null if the instruction is not interpreted.
const Form* FindForm(absl::string_view text);
// `mov` of a vector: "mov.b32 %r1, {%h1, %h2}" packs, the other way unpacks.
const Form* FindPack(absl::string_view text);
const Form* FindUnpack(absl::string_view text);
// Whether it begins with an operation of the PTX ISA: "mul" of "mul.rn.f32".
bool IsOperation(absl::string_view text);
// Why an instruction is refused: "fences are not interpreted yet".
std::string WhyRefused(absl::string_view text);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_INSTRUCTION_SET_H_
