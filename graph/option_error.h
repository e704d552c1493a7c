// Errors that name the option of a request that caused them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPTION_ERROR_H_
#define PARTITA_GRAPH_OPTION_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// Marks an error as caused by the option of that name ("batch-input"). Its
// message begins with the name: "batch-input: found ..." or "pin h=gpu:7: found
// ...". A command line can then name the flag.
absl::Status OfOption(absl::string_view option, absl::Status status);

// The option that caused the error; empty if none.
std::string OptionOf(const absl::Status& status);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPTION_ERROR_H_
