// Versions of the ONNX standard: which are supported, and which introduced an
// op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_OPSETS_H_
#define PARTITA_GRAPH_ONNX_OPSETS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// Opsets of the default domain. A newer one may give an op another meaning.
inline constexpr int kOldestOpset = 7;
inline constexpr int kNewestOpset = 28;

// Unimplemented for an opset outside of these.
absl::Status CheckOpset(int64_t version);

// Two names of one domain.
inline bool IsStandardDomain(absl::string_view domain) {
  return domain.empty() || domain == "ai.onnx";
}

// The first opset that has the op; 0 for an op that is not in the standard.
int SinceOpset(absl::string_view op_type);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_OPSETS_H_
