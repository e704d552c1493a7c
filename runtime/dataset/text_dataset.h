// Windows of a text, from which a model learns to tell the next token.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_TEXT_DATASET_H_
#define PARTITA_RUNTIME_DATASET_TEXT_DATASET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/dtype.h"
#include "runtime/dataset/dataset.h"

namespace partita {

struct TextOptions {
  int64_t length = 256;       // tokens that the model sees at once
  int64_t stride = 0;         // from one window to the next; 0: `length`
  DType dtype = DType::kI64;  // of a token; or i32
  std::string input_field = "input";
  std::string target_field = "target";
};

// Sample i is a window of length + 1 tokens from i * stride on: its first
// `length` tokens are the input, its last `length` the target. Tokens behind
// the last whole window are left out. InvalidArgument if there is no window.
absl::StatusOr<SharedDataset> TextDataset(std::vector<int32_t> tokens,
                                          const TextOptions& options);

// The files' bytes, one after another.
absl::StatusOr<std::string> ReadText(absl::Span<const std::string> paths);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_TEXT_DATASET_H_
