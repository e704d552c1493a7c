// Libraries of kernels: PTX text, read as the driver's compiler would.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_CODE_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_CODE_H_

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/module.h"

namespace partita::emulated_gpu {

// A kernel of a text. The text outlives it: launches that are pending when the
// library is unloaded still run.
struct KernelCode {
  std::shared_ptr<const ptx::Module> module;
  const ptx::Kernel* kernel = nullptr;  // of `module`
  // Whether its library was unloaded, for all launches of it.
  std::shared_ptr<bool> is_unloaded = std::make_shared<bool>(false);
  const std::string& name() const { return kernel->name; }
  // Where a parameter is stored: aligned to its size.
  uint64_t ParameterOffset(size_t index) const;
};

// What became of a text.
struct CompiledText {
  std::shared_ptr<const ptx::Module> module;  // null if it was refused
  CUresult refusal = CUDA_SUCCESS;            // of each of its kernels
  std::string log;                            // what the compiler says
};

// Reads PTX for a device of that capability (90 is 9.0). The codes are those
// that an H100's driver gave (code.refused); NOT_SUPPORTED for a text that is
// right for all that is known, but that the interpreter refuses.
CompiledText CompileText(absl::string_view text, int capability);

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_CODE_H_
