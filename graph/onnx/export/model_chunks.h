// The bytes of a model, without copying its weights.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_MODEL_CHUNKS_H_
#define PARTITA_GRAPH_ONNX_EXPORT_MODEL_CHUNKS_H_

#include "graph/onnx/export/export.h"
#include "graph/onnx/export/model_draft.h"

namespace partita {

// The draft as files. If the model would be larger than the options allow,
// weights of 1 KiB or more go into the weight file, each at a page of its own.
// What runtimes read while they load a model, such as shapes, stays in the
// model.
ExportedModel ChunksOf(ModelDraft draft, const ExportOptions& options);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_MODEL_CHUNKS_H_
