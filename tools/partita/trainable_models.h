// The models that `partita train` can be asked for, by name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAINABLE_MODELS_H_
#define PARTITA_TOOLS_PARTITA_TRAINABLE_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/builder/update_rule.h"
#include "partita/train/trainable_model.h"
#include "tools/partita/arguments.h"

namespace partita {

struct TrainableKind {
  const char* name;                           // "builtin:mnist"
  absl::Span<const absl::string_view> flags;  // that it reads itself
  const char* size_flags;  // of those, what makes a step need less memory
  UpdateRule (*usual)();   // what is trained by if no flag says
  // Reads these flags and opens the datasets.
  absl::StatusOr<TrainableModel> (*read)(const Arguments& arguments);
};

// What --batch-norm may say.
std::vector<std::string> BatchNormKinds();

// TrainableKind::size_flags of the model that is named.
const char* SizeFlagsOf(const Arguments& arguments);

// CalledWrongly if no model that can be trained has this name, or if a flag is
// given that only others read.
absl::StatusOr<const TrainableKind*> FindTrainable(const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAINABLE_MODELS_H_
