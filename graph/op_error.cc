// The text of faults in a user's graph.
// SPDX-License-Identifier: Apache-2.0

#include "graph/op_error.h"

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// A node under construction has no results yet: errors name its operands.
std::string Describe(const OpView& op) {
  if (op.num_results() > 0 || op.num_operands() == 0) return op.ToString();
  const std::string& name = op.operand(0).name();
  return absl::StrCat(
      op.op_name(), " of %",
      name.empty() ? absl::StrCat(op.operand(0).id().index) : name);
}

}  // namespace

absl::Status BadOp(const OpView& op, absl::string_view found,
                   absl::string_view expected, absl::string_view fix) {
  const std::string& location = op.node().location;
  return absl::InvalidArgumentError(
      absl::StrCat(location, location.empty() ? "" : ": ", Describe(op),
                   ": found ", found, "; expected ", expected, "; ", fix));
}

}  // namespace partita
