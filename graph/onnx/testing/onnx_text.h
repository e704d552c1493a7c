// Models for tests, written in ONNX's own text form.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_TESTING_ONNX_TEXT_H_
#define PARTITA_GRAPH_ONNX_TESTING_ONNX_TEXT_H_

#include <string>

#include "onnx/onnx_pb.h"

namespace partita {

// Ends the test if ONNX's parser refuses the text.
onnx::ModelProto ModelOfText(const std::string& text);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_TESTING_ONNX_TEXT_H_
