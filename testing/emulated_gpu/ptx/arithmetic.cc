// Finds the part that knows an instruction.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/arithmetic.h"

#include "absl/strings/match.h"
#include "testing/emulated_gpu/ptx/conversions.h"
#include "testing/emulated_gpu/ptx/floats.h"
#include "testing/emulated_gpu/ptx/integers.h"

namespace partita::ptx {
namespace {

uint64_t Copy(NanRules, uint64_t a, uint64_t, uint64_t) { return a; }

}  // namespace

Evaluate FindEvaluate(absl::string_view operation, Type type, Type from) {
  if (operation == "mov" || operation == "cvta.to.global") return Copy;
  if (absl::StartsWith(operation, "cvt")) {
    return FindConversion(operation, type, from);
  }
  return IsFloat(type) ? FindOnFloats(operation, type)
                       : FindOnIntegers(operation, type);
}

}  // namespace partita::ptx
