// The bytes of a model, without copying its weights.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_MODEL_PIECES_H_
#define PARTITA_GRAPH_ONNX_EXPORT_MODEL_PIECES_H_

#include "graph/onnx/export/export.h"
#include "graph/onnx/export/model_draft.h"

namespace partita {

// The draft as files. Where the model would be larger than the options allow,
// weights of 1 KiB or more lie in the weight file, each on a page of its own;
// what runtimes look at while they load a model, shapes for one, stays in it.
ExportedModel PiecesOf(ModelDraft draft, const ExportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_MODEL_PIECES_H_
