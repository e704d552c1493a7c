// Refusals of PTX text.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/code.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "testing/emulated_gpu/ptx/parser.h"

namespace partita::emulated_gpu {
namespace {

// The newest of CUDA 13.0 (code.ptx_versions).
constexpr int kNewestPtx = 90;

CompiledText Refused(CUresult code, std::string log) {
  return {.refusal = code, .log = std::move(log)};
}

// "sm_90a" is 90, and runs on that alone; "sm_90" on that and newer ones.
bool TargetFits(absl::string_view target, int capability) {
  if (!absl::ConsumePrefix(&target, "sm_")) return false;
  const bool alone = absl::ConsumeSuffix(&target, "a");
  int number = 0;
  if (!absl::SimpleAtoi(target, &number)) return false;
  return alone ? number == capability : number <= capability;
}

}  // namespace

uint64_t KernelCode::ParameterOffset(size_t index) const {
  uint64_t offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    const uint64_t bytes = static_cast<uint64_t>(kernel->parameters[i].bytes);
    offset = (offset + bytes - 1) / bytes * bytes;
    if (i < index) offset += bytes;
  }
  return offset;
}

CompiledText CompileText(absl::string_view text, int capability) {
  if (!absl::StrContains(text, ".version")) {
    return Refused(CUDA_ERROR_INVALID_IMAGE,
                   "found no .version; expected a text of PTX");
  }
  absl::StatusOr<ptx::Module> module = ptx::ParseModule(text, "ptx input");
  if (!module.ok()) {
    const bool unknown = absl::IsUnimplemented(module.status());
    return Refused(unknown ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_PTX,
                   std::string(module.status().message()));
  }
  if (module->version > kNewestPtx) {
    return Refused(
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        absl::StrCat("found .version ", module->version / 10, ".",
                     module->version % 10, "; expected at most 9.0"));
  }
  if (!TargetFits(module->target, capability)) {
    return Refused(CUDA_ERROR_INVALID_PTX,
                   absl::StrCat("found .target ", module->target,
                                "; expected at most sm_", capability));
  }
  return {.module = std::make_shared<const ptx::Module>(*std::move(module))};
}

}  // namespace partita::emulated_gpu
