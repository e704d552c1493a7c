// The models of `partita train`, by name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAINABLE_MODELS_H_
#define PARTITA_TOOLS_PARTITA_TRAINABLE_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/builder/update_rule.h"
#include "partita/options/arguments.h"
#include "partita/train/trainable_model.h"

namespace partita {

struct TrainableKind {
  const char* name;                           // "builtin:mnist"
  absl::Span<const absl::string_view> flags;  // its own
  const char* size_flags;  // those that reduce the memory of a step
  UpdateRule (*usual)();   // the default optimizer
  // Reads these flags and opens the datasets.
  absl::StatusOr<TrainableModel> (*read)(const Arguments& arguments);
};

// "builtin:mnist" and others.
std::vector<std::string> TrainableBuiltIns();

// TrainableKind::size_flags of the named model.
const char* SizeFlagsOf(const Arguments& arguments);

// CalledWrongly if no trainable model has this name, or for a flag that only
// others read.
absl::StatusOr<const TrainableKind*> FindTrainable(const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAINABLE_MODELS_H_
