// Finds what callers name or number: inputs, outputs, variables, devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PORT_LOOKUP_H_
#define PARTITA_PARTITA_PORT_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan.h"

namespace partita {

// The index of the port. `kind`: "input" or "output". NotFound: "input z: found
// no such input; expected one of x".
absl::StatusOr<size_t> FindPort(const std::vector<Port>& ports,
                                absl::string_view name, absl::string_view kind);

// InvalidArgument for an index that is negative or not below `size`: "session:
// found input 7; expected an index below 1".
absl::Status CheckIndex(int64_t index, size_t size, absl::string_view kind);

}  // namespace partita

#endif  // PARTITA_PARTITA_PORT_LOOKUP_H_
