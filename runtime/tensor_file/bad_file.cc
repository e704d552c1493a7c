// The form of a message about a file.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/bad_file.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace partita {

absl::Status BadFile(absl::string_view where, absl::string_view found,
                     absl::string_view expected, absl::string_view fix) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": found ", found,
                                                 "; expected ", expected,
                                                 fix.empty() ? "" : "; ", fix));
}

absl::Status WithMessage(const absl::Status& status,
                         absl::string_view message) {
  absl::Status changed(status.code(), message);
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    changed.SetPayload(type, absl::Cord(std::string(payload)));
  });
  return changed;
}

absl::Status AtPlace(absl::string_view where, const absl::Status& status) {
  return WithMessage(status, absl::StrCat(where, ": ", status.message()));
}

}  // namespace partita
