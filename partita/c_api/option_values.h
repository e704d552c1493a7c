// Values of options: numbers, bindings and choices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_C_API_OPTION_VALUES_H_
#define PARTITA_PARTITA_C_API_OPTION_VALUES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/number.h"

namespace partita::c_api {

// All return InvalidArgument "found ...; expected ..." for another value; the
// caller adds the key.

absl::Status BadValue(absl::string_view found, absl::string_view expected);
absl::StatusOr<int64_t> ReadInteger(absl::string_view value, int64_t least,
                                    int64_t most);
// "true" or "false".
absl::StatusOr<bool> ReadBool(absl::string_view value);
// One of the choices; the error names the nearest. The index of it.
absl::StatusOr<size_t> ReadChoice(absl::string_view value,
                                  absl::Span<const std::string> choices);
// "NAME=VALUE" as a pair. The name may have equals signs, the value not. An
// empty value is an error unless `may_be_empty`.
absl::StatusOr<std::pair<std::string, std::string>> ReadBinding(
    absl::string_view value, bool may_be_empty = false);
// "1,3,640,640"; an empty list for "".
absl::StatusOr<std::vector<int64_t>> ReadIntegers(absl::string_view value);
absl::StatusOr<std::vector<Number>> ReadNumbers(absl::string_view value);

// "; did you mean X?" if `name` looks like a typo of one of the names;
// otherwise "".
std::string NearestName(absl::string_view name,
                        absl::Span<const std::string> names);

}  // namespace partita::c_api

#endif  // PARTITA_PARTITA_C_API_OPTION_VALUES_H_
