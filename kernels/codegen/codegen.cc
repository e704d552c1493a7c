// Compiles and links.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/codegen.h"

#include <mutex>

#include "kernels/codegen/object_code.h"
#include "kernels/codegen/ptx.h"
#include "llvm/Config/llvm-config.h"

namespace {

// lld has global state, and so has LLVM's table of targets.
std::mutex& BuildMutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

}  // namespace

bool PartitaBuildSharedObject8(const std::vector<partita::AnyProgram>* programs,
                               const char* isa, std::string* shared_object,
                               std::string* error) {
  const std::lock_guard<std::mutex> lock(BuildMutex());
  std::string object;
  if (!partita::CompileObject(*programs, isa, object, *error)) {
    *error = "bug: codegen cannot compile its program: " + *error;
    return false;
  }
  return partita::LinkSharedObject(object, *shared_object, *error);
}

bool PartitaBuildPtx6(const std::vector<partita::AnyProgram>* programs,
                      const char* target, std::string* ptx,
                      std::string* error) {
  const std::lock_guard<std::mutex> lock(BuildMutex());
  if (partita::CompilePtx(*programs, target, *ptx, *error)) return true;
  *error = "bug: codegen cannot compile its program: " + *error;
  return false;
}

const char* PartitaLlvmVersion1() { return LLVM_VERSION_STRING; }
