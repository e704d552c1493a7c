// Why there is no program for a node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_NOT_GENERATED_H_
#define PARTITA_KERNELS_CODEGEN_NOT_GENERATED_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"

namespace partita {

// Unimplemented, naming the node and what was found.
absl::Status NotGenerated(const OpView& node, absl::string_view found);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_NOT_GENERATED_H_
