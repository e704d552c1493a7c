// Compiles and links.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/codegen.h"

#include <mutex>

#include "kernels/codegen/object_code.h"

bool PartitaBuildSharedObject3(
    const std::vector<partita::ElementwiseProgram>* programs, const char* isa,
    std::string* shared_object, std::string* error) {
  // lld has global state.
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string object;
  if (!partita::CompileObject(*programs, isa, object, *error)) {
    *error = "bug: codegen cannot compile its program: " + *error;
    return false;
  }
  return partita::LinkSharedObject(object, *shared_object, *error);
}
