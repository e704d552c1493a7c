// Replacements for unsupported ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_REPLACEMENTS_H_
#define PARTITA_GRAPH_ONNX_REPLACEMENTS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// "the float model; ...", or "" if no replacement is known.
std::string ReplacementOf(absl::string_view domain, absl::string_view op_type);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_REPLACEMENTS_H_
