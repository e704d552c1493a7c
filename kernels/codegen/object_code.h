// Programs as an object file of an instruction set.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_OBJECT_CODE_H_
#define PARTITA_KERNELS_CODEGEN_OBJECT_CODE_H_

#include <string>
#include <vector>

#include "kernels/codegen/any_program.h"

namespace partita {

// Returns false and sets `error` if LLVM refuses: a bug, or an unknown
// instruction set.
bool CompileObject(const std::vector<AnyProgram>& programs,
                   const std::string& isa, std::string& object,
                   std::string& error);

// Links the object into a shared object without imports.
bool LinkSharedObject(const std::string& object, std::string& shared,
                      std::string& error);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_OBJECT_CODE_H_
