// One number for all channels, or one for each channel.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRAIN_CHANNEL_NUMBERS_H_
#define PARTITA_PARTITA_TRAIN_CHANNEL_NUMBERS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace partita {

std::vector<float> ToFloats(absl::Span<const double> numbers);
// "0.49,0.48,0.45"; parses back to the same numbers.
std::string DoublesText(absl::Span<const double> numbers);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRAIN_CHANNEL_NUMBERS_H_
