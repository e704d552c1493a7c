// The CUDA toolkit's assembler and disassembler, for tests of generated PTX.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PTXAS_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PTXAS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace partita {

// In CUDA_HOME, or /usr/local/cuda; empty if there is none.
std::string FindPtxas();
std::string FindDisassembler();  // nvdisasm

// An architecture, and the target of the text that plans have for it.
struct AssembledFor {
  const char* architecture;
  const char* target;
};
inline constexpr AssembledFor kArchitectures[] = {
    {"sm_80", "sm_80"}, {"sm_86", "sm_80"},  {"sm_89", "sm_80"},
    {"sm_90", "sm_90"}, {"sm_100", "sm_90"}, {"sm_120", "sm_90"}};

struct AssembledKernel {
  std::string name;
  int stack_bytes = 0;
  int spill_bytes = 0;  // of stores and loads
  int registers = 0;    // of a thread
};

struct Assembled {
  std::vector<AssembledKernel> kernels;
  std::string output;  // what the assembler printed
  int most_registers() const;
  // A line for each kernel with a stack frame or spills: its name and bytes.
  std::string StackAndSpills() const;
};

// From the lines "Compiling entry function 'f' for 'sm_90'", "0 bytes stack
// frame, 0 bytes spill stores, 0 bytes spill loads" and "Used 32 registers,
// ..." of each kernel.
Assembled ReadReport(const std::string& output);

// Assembles PTX text for an architecture, such as sm_120. Internal, with the
// begin of the output, if the assembler refuses it or warns of more than
// spills.
absl::StatusOr<Assembled> Assemble(const std::string& ptxas,
                                   const std::string& text,
                                   const std::string& architecture);

// The instructions of each kernel as text, a line each. Internal, with the
// begin of the output, if one of the tools fails.
absl::StatusOr<std::map<std::string, std::string>> Disassemble(
    const std::string& ptxas, const std::string& disassembler,
    const std::string& text, const std::string& architecture);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PTXAS_H_
