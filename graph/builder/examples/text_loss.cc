// Cross entropy over all windows at once.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/examples/text_loss.h"

#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/status_macros.h"

namespace partita {

absl::Status MinimizeTextLoss(GraphBuilder& b, Tensor scores,
                              const Shape& windows, Tensor step,
                              const UpdateRule& update) {
  const Tensor labels = b.Input("labels", DType::kI64, windows);
  const Tensor loss =
      CrossEntropyLoss(scores, Reshape(labels, {windows[0] * windows[1]}),
                       {.label_smoothing = update.label_smoothing});
  PARTITA_RETURN_IF_ERROR(Minimize(b, loss, step, update));
  b.Output("loss", loss);
  return absl::OkStatus();
}

}  // namespace partita
