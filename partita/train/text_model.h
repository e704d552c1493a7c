// Models that learn to write text, character by character.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_TEXT_MODEL_H_
#define PARTITA_PARTITA_TRAIN_TEXT_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder/examples/models.h"
#include "partita/train/trainable_model.h"
#include "partita/train/written_text.h"

namespace partita {

struct TextModelOptions {
  std::vector<std::string> files;  // UTF-8, concatenated
  double test_share = 0.1;         // share of the text, its end; 0: no test
  WritingOptions writing;          // after the training
};

// Over consecutive windows of the text: tokens are its characters, and the loss
// is in nats per character. The vocabulary, the update and the seed of
// `network` are overwritten.
absl::StatusOr<TrainableModel> GptModel(const TextModelOptions& options,
                                        GptTrainingOptions network);
absl::StatusOr<TrainableModel> LstmModel(const TextModelOptions& options,
                                         LstmTrainingOptions network);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_TEXT_MODEL_H_
