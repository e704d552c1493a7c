// The CUDA toolkit's assembler, for tests of generated PTX.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PTXAS_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PTXAS_H_

#include <string>

#include "absl/status/statusor.h"

namespace partita {

// In CUDA_HOME, or /usr/local/cuda; empty if there is none.
std::string FindPtxas();

// An architecture, and the target of the text that plans have for it.
struct AssembledFor {
  const char* architecture;
  const char* target;
};
inline constexpr AssembledFor kArchitectures[] = {
    {"sm_80", "sm_80"}, {"sm_86", "sm_80"},  {"sm_89", "sm_80"},
    {"sm_90", "sm_90"}, {"sm_100", "sm_90"}, {"sm_120", "sm_90"}};

struct Assembled {
  int kernels = 0;
  int with_stack_or_spills = 0;
  int most_registers = 0;  // of a thread
  std::string output;      // what the assembler printed
};

// From the lines "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill
// loads" and "Used 32 registers, ..." of each kernel.
Assembled ReadReport(const std::string& output);

// Assembles PTX text for an architecture, such as sm_120. Internal, with the
// begin of the output, if the assembler refuses it or warns.
absl::StatusOr<Assembled> Assemble(const std::string& ptxas,
                                   const std::string& text,
                                   const std::string& architecture);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PTXAS_H_
