// Error messages about files.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_BAD_FILE_H_
#define PARTITA_RUNTIME_TENSOR_FILE_BAD_FILE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// InvalidArgument `where: found FOUND; expected EXPECTED; FIX`; without the
// last part if `fix` is empty.
absl::Status BadFile(absl::string_view where, absl::string_view found,
                     absl::string_view expected, absl::string_view fix = "");

// The same status code with another message.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);
// `status` with the prefix `where: `.
absl::Status AtPlace(absl::string_view where, const absl::Status& status);

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_BAD_FILE_H_
