// Opens libpartita_codegen.so at first use, so that nobody who does not
// generate code pays for LLVM.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_LOADER_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_LOADER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/codegen/program.h"

namespace partita {

// Whether the library's file is in one of the folders where it is looked for:
// those of PARTITA_LIBRARY_PATH (between colons), the program's own, and its
// runfiles. Unavailable, naming them, if it is not. Does not open it.
const absl::Status& FindCodegen();

// Begins to open it on a thread of its own, for who will generate code soon:
// LLVM takes longer to load than many a model to compile. Once a process.
void OpenCodegenSoon();

// A shared object with one function a program, for the instruction set.
// Unavailable, naming the folders, if the library is not there or does not
// open; Internal if it cannot compile a program. Thread safe.
absl::StatusOr<std::string> BuildSharedObject(
    const std::vector<ElementwiseProgram>& programs, absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_LOADER_H_
