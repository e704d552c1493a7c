// The errors of several nodes as one message.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_FAULT_LIST_H_
#define PARTITA_GRAPH_ONNX_FAULT_LIST_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"

namespace partita {

inline constexpr size_t kMaxShownFaults = 20;

// One a line, indented; after kMaxShownFaults the rest is counted.
std::string JoinedFaults(absl::Span<const std::string> faults);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_FAULT_LIST_H_
