// Reads PTX text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_PARSER_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_PARSER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/module.h"

namespace partita::ptx {

// What a text may have at most; more is refused.
inline constexpr size_t kMostTextBytes = size_t{64} << 20;
inline constexpr uint32_t kMostRegisters = 1 << 16;  // of a kernel
inline constexpr size_t kMostParameters = 512;       // of a kernel
inline constexpr size_t kMostSharedVariables = 16;   // of a kernel

// The kernels of a text. Whatever is not interpreted is refused by name, never
// skipped. InvalidArgument if the text is wrong, Unimplemented if it is not
// interpreted: "NAME:12: found ...; expected ...". Any bytes are safe.
absl::StatusOr<Module> ParseModule(absl::string_view text,
                                   absl::string_view name);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_PARSER_H_
