// What libpartita_codegen.so exports: the one way to LLVM.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CODEGEN_H_
#define PARTITA_KERNELS_CODEGEN_CODEGEN_H_

#include <string>
#include <vector>

#include "kernels/codegen/program.h"

namespace partita {

// Plain data only: the library shares no graph code with its caller. The
// number at the end of the symbol's name counts changes of program.h.
inline constexpr char kCodegenSymbol[] = "PartitaBuildSharedObject3";
using CodegenFunction =
    bool (*)(const std::vector<ElementwiseProgram>* programs, const char* isa,
             std::string* shared_object, std::string* error);

}  // namespace partita

// One function a program, under its name. The same bytes for the same input.
// Thread safety: calls wait for each other.
extern "C" __attribute__((visibility("default"))) bool
PartitaBuildSharedObject3(
    const std::vector<partita::ElementwiseProgram>* programs, const char* isa,
    std::string* shared_object, std::string* error);

#endif  // PARTITA_KERNELS_CODEGEN_CODEGEN_H_
