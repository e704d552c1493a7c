// Opens libpartita_codegen.so at first use, so that programs that generate no
// code do not load LLVM.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_LOADER_H_
#define PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_LOADER_H_

#include <future>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/codegen/any_program.h"

namespace partita {

// OK if the library's file is in one of CompanionFolders
// (kernels/companion_file.h). Otherwise Unavailable, with their names. Does not
// open it.
const absl::Status& FindCodegen();

// Starts to open it on a thread of its own. Call it early: loading LLVM takes
// longer than compiling many a model. The result waits when it is destroyed: a
// process must not end before, as the library's constructors would run beside
// its exit handlers.
std::future<void> OpenCodegenSoon();

// LLVM's version, "19.1.7". Opens the library; errors as below. Thread safe.
absl::StatusOr<std::string> LlvmVersion();

// A shared object with one function for each program, for the instruction set.
// Unavailable, with the folders, if the library is missing or does not open;
// Internal if it cannot compile a program. Thread safe.
absl::StatusOr<std::string> BuildSharedObject(
    const std::vector<AnyProgram>& programs, absl::string_view isa);

// PTX text with one kernel for each program (kernels/codegen/gpu_kernel.h), for
// the target sm_80 or sm_90 and later architectures. Errors as above.
absl::StatusOr<std::string> BuildPtx(const std::vector<AnyProgram>& programs,
                                     absl::string_view target);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOADER_CODEGEN_LOADER_H_
