// What a launch of a generated kernel needs to know of its program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PROGRAM_SIGNATURE_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PROGRAM_SIGNATURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/codegen/index_program.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/row_program.h"

namespace partita {

struct ProgramSignature {
  struct Buffer {
    ScalarType type = ScalarType::kF32;
    int64_t elements = 0;
    int64_t bytes() const { return elements * BytesOf(type); }
  };
  std::string name;
  std::vector<Buffer> operands;
  std::vector<Buffer> results;
};

ProgramSignature SignatureOf(const ElementwiseProgram& program);
ProgramSignature SignatureOf(const RowProgram& program);
ProgramSignature SignatureOf(const IndexProgram& program);
ProgramSignature SignatureOf(const JoinedProgram& program);

// OK if all elements of all results have equal bits, where NaN equals NaN: its
// bits are the processor's. Else names the program, `what`, and the first
// difference.
absl::Status CheckResults(const ProgramSignature& signature,
                          const std::string& what,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_TESTING_PROGRAM_SIGNATURE_H_
