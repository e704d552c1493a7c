// PTX as data: what a parsed text holds, ready to be executed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_MODULE_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_MODULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

// Special registers: a thread's indices, and the extents of block and grid.
enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
};

struct Operand {
  enum class Kind : uint8_t {
    kNone,
    kRegister,   // number `index`
    kImmediate,  // `bits`
    kSpecial,    // `index` is a Special
    kParameter,  // parameter `index`, from byte `bits` on
    kAddress,    // register `index`, if there is one, + `bits`
  };
  static constexpr uint32_t kNoRegister = UINT32_MAX;
  Kind kind = Kind::kNone;
  uint32_t index = kNoRegister;
  uint64_t bits = 0;
};

// Operands in the order of the form's signature; a vector of four has four.
inline constexpr int kMostOperands = 6;

struct Instruction {
  const Form* form = nullptr;
  int line = 0;
  // Executed if the predicate register is not equal to `guard_negated`.
  uint32_t guard = Operand::kNoRegister;
  bool guard_negated = false;
  uint32_t target = 0;  // of a branch: the number of an instruction
  std::array<Operand, kMostOperands> operands;
};

struct Parameter {
  std::string name;
  int bytes = 0;
};

// Memory that each block has for itself. Variables are far apart.
struct SharedVariable {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<SharedVariable> shared;
  uint32_t most_threads = 1024;     // of a block
  bool needs_most_threads = false;  // a block has no fewer
  uint32_t registers = 0;
  bool synchronizes = false;  // has barriers or shuffles
  // The last one is a `ret`, or a branch without a guard.
  std::vector<Instruction> instructions;
};

struct Module {
  int version = 0;     // 80 is 8.0
  std::string target;  // "sm_80"
  std::vector<Kernel> kernels;

  // Null if there is none of that name.
  const Kernel* Find(const std::string& name) const;
};

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_MODULE_H_
