// Compute capabilities.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/gpu/ptx_target.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace partita {

std::optional<std::string> PtxTarget(absl::string_view isa) {
  if (isa.empty()) return "sm_80";
  if (!absl::ConsumePrefix(&isa, "sm_")) return std::nullopt;
  // Features of one architecture, or of its family.
  if (!absl::ConsumeSuffix(&isa, "a")) absl::ConsumeSuffix(&isa, "f");
  int capability = 0;
  if (!absl::SimpleAtoi(isa, &capability) || capability < 80) {
    return std::nullopt;
  }
  return capability < 90 ? "sm_80" : "sm_90";
}

}  // namespace partita
