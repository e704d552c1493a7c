// Windows of a text, for models that predict the next token.
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
  int64_t length = 256;       // tokens in the model's input
  int64_t stride = 0;         // between windows; 0: `length`
  DType dtype = DType::kI64;  // of a token; or i32
  std::string input_field = "input";
  std::string target_field = "target";
};

// Sample i is a window of length + 1 tokens from i * stride on: its first
// `length` tokens are the input, its last `length` the target. Drops tokens
// after the last whole window. InvalidArgument if there is no window.
absl::StatusOr<SharedDataset> TextDataset(std::vector<int32_t> tokens,
                                          const TextOptions& options);

// The bytes of all files in sequence.
absl::StatusOr<std::string> ReadText(absl::Span<const std::string> paths);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_TEXT_DATASET_H_
