// The one text of these errors.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/not_generated.h"

#include "absl/strings/str_cat.h"

namespace partita {

absl::Status NotGenerated(const OpView& node, absl::string_view found) {
  return absl::UnimplementedError(
      absl::StrCat(node.ToString(), ": found ", found,
                   "; expected what codegen makes code for"));
}

}  // namespace partita
