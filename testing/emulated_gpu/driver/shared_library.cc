// A libcuda.so.1 of emulated GPUs: the machine of the environment's options
// (options.h) from the load of the library to the end of the process. What it
// found, and what was not given back, then goes to stderr.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "testing/emulated_gpu/driver/entry.h"
#include "testing/emulated_gpu/driver/options.h"

namespace partita::emulated_gpu {
namespace {

void Print(const std::string& text) {
  std::fprintf(stderr, "emulated GPU: %s\n", text.c_str());
}

class Machine {
 public:
  // With options that are wrong there is no machine: every call returns
  // CUDA_ERROR_DEINITIALIZED.
  Machine() {
    auto options = OptionsFromEnvironment();
    if (!options.ok()) {
      Print(std::string(options.status().message()));
      return;
    }
    auto cuda = EmulatedCuda::New(*options);
    if (!cuda.ok()) {
      Print(std::string(cuda.status().message()));
      return;
    }
    cuda_ = *std::move(cuda);
  }
  ~Machine() {
    if (cuda_ == nullptr) return;
    for (const Finding& finding : cuda_->findings()) Print(TextOf(finding));
    for (const Finding& leak : cuda_->leaks()) Print(TextOf(leak));
  }

 private:
  std::unique_ptr<EmulatedCuda> cuda_;
};

Machine machine;

}  // namespace
}  // namespace partita::emulated_gpu

// The macros of cuda.h are expanded first: the exported name.
#define PARTITA_TEXT(name) #name

// A function cannot be defined by its type alone, so each exported name is a
// jump to the entry of the table.
#define PARTITA_DRIVER_CALL(member, function)                                  \
  __attribute__((used,                                                         \
                 visibility("hidden"))) decltype(partita::DriverApi::member)   \
      partita_entry_##member = partita::emulated_gpu::EntryTable().member;     \
  __attribute__((naked, visibility("default"))) void Export##member() __asm__( \
      PARTITA_TEXT(function));                                                 \
  void Export##member() { __asm__("jmp *partita_entry_" #member "(%rip)"); }
extern "C" {
#include "third_party/cuda_loader/driver_calls.inc"
}
#undef PARTITA_DRIVER_CALL
#undef PARTITA_TEXT

// NVIDIA's libraries ask here for tables that cuda.h does not document, one of
// them to prove that the driver is NVIDIA's. This is not, and says so.
extern "C" __attribute__((visibility("default"))) CUresult cuGetExportTable(
    const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
