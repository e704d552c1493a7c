// How users write options: as flags of the program, or as keys of the C API.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_SPELLING_H_
#define PARTITA_PARTITA_OPTIONS_SPELLING_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

enum class Spelling : uint8_t {
  kFlags,  // --depth 2, --ieee
  kKeys,   // depth=2, ieee=true
};

// "--depth" or "depth".
std::string Spelled(Spelling spelling, absl::string_view option);
// "--depth 2" or "depth=2".
std::string Spelled(Spelling spelling, absl::string_view option,
                    absl::string_view value);
// An option without a value: "--ieee" or "ieee=true".
std::string SpelledSwitch(Spelling spelling, absl::string_view option);
// What a call takes beside its options: "the operand", or "the model".
std::string OperandName(Spelling spelling);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_SPELLING_H_
