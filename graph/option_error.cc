// Stores the option's name as a payload.
// SPDX-License-Identifier: Apache-2.0

#include "graph/option_error.h"

#include "absl/strings/cord.h"

namespace partita {
namespace {

constexpr absl::string_view kPayload = "partita/option";

}  // namespace

absl::Status OfOption(absl::string_view option, absl::Status status) {
  status.SetPayload(kPayload, absl::Cord(option));
  return status;
}

std::string OptionOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  return payload.has_value() ? std::string(*payload) : "";
}

}  // namespace partita
