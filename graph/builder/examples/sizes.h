// Checks the sizes of a model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_EXAMPLES_SIZES_H_
#define PARTITA_GRAPH_BUILDER_EXAMPLES_SIZES_H_

#include <cstdint>
#include <initializer_list>

#include "absl/status/status.h"

namespace partita {

// InvalidArgument unless all are 1..65536, so that no weight is too large.
absl::Status CheckSizes(std::initializer_list<int64_t> sizes);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_EXAMPLES_SIZES_H_
