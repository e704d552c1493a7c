// Errors about an option of a request, which say which one it is.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPTION_ERROR_H_
#define PARTITA_GRAPH_OPTION_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// The same error, about the option of that name ("batch-input"), with which its
// message begins: "batch-input: found ..." or "pin h=gpu:7: found ...". Who
// took the option from a command line can name its flag.
absl::Status OfOption(absl::string_view option, absl::Status status);

// The option that the error is about; empty if it is about none.
std::string OptionOf(const absl::Status& status);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPTION_ERROR_H_
