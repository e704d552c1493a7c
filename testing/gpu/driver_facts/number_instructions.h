// Single PTX instructions of arithmetic, and what they give by the PTX ISA.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_NUMBER_INSTRUCTIONS_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_NUMBER_INSTRUCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace partita {

enum class NumberKind { kF16, kBF16, kF32, kF64, kInt32, kInt64 };

int BytesOf(NumberKind kind);
bool IsNaN(NumberKind kind, uint64_t bits);

// Operands and results are bits, in the low bytes of a word.
struct TestedInstruction {
  const char* id;
  const char* ptx;
  NumberKind from;
  NumberKind to;
  int operands;
  uint64_t (*host)(uint64_t a, uint64_t b, uint64_t c);
  const char* rule;
  // Inputs where PTX fixes no result: they are shown, not compared. Or null.
  bool (*undefined)(uint64_t a, uint64_t b) = nullptr;
  // What a NaN result is made of one NaN operand; null: it is always
  // CanonicalNaN.
  uint64_t (*kept_nan)(uint64_t operand) = nullptr;
};

// All ones but the sign: 7fffffff for f32.
uint64_t CanonicalNaN(NumberKind kind);

inline constexpr size_t kInstructionCount = 71;
absl::Span<const TestedInstruction> TestedInstructions();

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_NUMBER_INSTRUCTIONS_H_
