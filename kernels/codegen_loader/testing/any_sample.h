// A program of any kind, with operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_ANY_SAMPLE_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_ANY_SAMPLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen_loader/testing/program_signature.h"

namespace partita {

struct AnySample {
  std::string what;  // "conv(f32[1, 4, 9, 9], f32[6, 4, 3, 3])"
  AnyProgram program;
  std::vector<std::vector<std::byte>> operands;
};

ProgramSignature SignatureOf(const AnyProgram& program);
// What [0, end) of a function for CPUs computes all results of.
int64_t NumItems(const AnyProgram& program);

// The results of the program's interpreter.
std::vector<std::vector<std::byte>> InterpretedResults(const AnySample& sample);

absl::Status CheckResults(const AnySample& sample,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_ANY_SAMPLE_H_
