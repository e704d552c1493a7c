// The interface of libpartita_codegen.so, the only user of LLVM.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CODEGEN_H_
#define PARTITA_KERNELS_CODEGEN_CODEGEN_H_

#include <string>
#include <vector>

#include "kernels/codegen/any_program.h"

namespace partita {

// Plain data only, since the library shares no graph code with its caller. The
// number at the end of the symbol is the version of any_program.h.
inline constexpr char kCodegenSymbol[] = "PartitaBuildSharedObject8";
using CodegenFunction = bool (*)(const std::vector<AnyProgram>* programs,
                                 const char* isa, std::string* shared_object,
                                 std::string* error);

// The same for GPUs: `target` is sm_80 or sm_90, and the result is PTX text.
inline constexpr char kPtxSymbol[] = "PartitaBuildPtx6";
using PtxFunction = bool (*)(const std::vector<AnyProgram>* programs,
                             const char* target, std::string* ptx,
                             std::string* error);

// LLVM's version, "19.1.7".
inline constexpr char kLlvmVersionSymbol[] = "PartitaLlvmVersion1";
using LlvmVersionFunction = const char* (*)();

}  // namespace partita

// One function for each program, with its name. The same input gives the same
// bytes. Thread safety: calls are serialized.
extern "C" __attribute__((visibility("default"))) bool
PartitaBuildSharedObject8(const std::vector<partita::AnyProgram>* programs,
                          const char* isa, std::string* shared_object,
                          std::string* error);

extern "C" __attribute__((visibility("default"))) bool PartitaBuildPtx6(
    const std::vector<partita::AnyProgram>* programs, const char* target,
    std::string* ptx, std::string* error);

extern "C" __attribute__((visibility("default"))) const char*
PartitaLlvmVersion1();

#endif  // PARTITA_KERNELS_CODEGEN_CODEGEN_H_
