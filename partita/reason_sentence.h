// Sentences for the reasons of placements.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_REASON_SENTENCE_H_
#define PARTITA_PARTITA_REASON_SENTENCE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// For a reason as plans note it ("near_constant %w1", ReasonText): "its weight
// %w1 is pinned there". The reason itself if it is not one of a planner's.
std::string ReasonSentence(absl::string_view reason);

}  // namespace partita

#endif  // PARTITA_PARTITA_REASON_SENTENCE_H_
