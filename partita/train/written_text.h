// Text that a trained character model writes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_WRITTEN_TEXT_H_
#define PARTITA_PARTITA_TRAIN_WRITTEN_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "partita/session.h"
#include "runtime/dataset/vocabulary.h"

namespace partita {

struct WritingOptions {
  int64_t characters = 0;
  // Log-probabilities are divided by it before a character is drawn: below 1
  // favours likely characters; 0: always the most likely.
  double temperature = 1;
  uint64_t seed = 1;  // of the drawing
};

// Runs the entry `evaluate` for each character: its input is i64[n, context],
// its output f32[n * context, size of the vocabulary], and the text is the
// first sequence. Begins after the token `first`, and sees at most the context.
// The same weights, options and plan write the same text.
absl::StatusOr<std::string> WriteText(Session& session,
                                      const Vocabulary& vocabulary,
                                      int32_t first,
                                      const WritingOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_WRITTEN_TEXT_H_
