// The mark is a payload of the status.
// SPDX-License-Identifier: Apache-2.0

#include "graph/extent_error.h"

#include "absl/strings/cord.h"
#include "graph/op_error.h"

namespace partita {
namespace {

constexpr absl::string_view kPayload = "partita/of_extents";

}  // namespace

absl::Status OfExtents(absl::Status status) {
  status.SetPayload(kPayload, absl::Cord());
  return status;
}

bool IsOfExtents(const absl::Status& status) {
  return status.GetPayload(kPayload).has_value();
}

absl::Status BadExtents(const OpView& op, absl::string_view found,
                        absl::string_view expected, absl::string_view fix) {
  return OfExtents(BadOp(op, found, expected, fix));
}

}  // namespace partita
