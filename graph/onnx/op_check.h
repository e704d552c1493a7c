// Which ops of a model are supported, before any of its nodes is translated.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_OP_CHECK_H_
#define PARTITA_GRAPH_ONNX_OP_CHECK_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/onnx/functions.h"
#include "onnx/onnx_pb.h"

namespace partita {

// "12 nodes: Add 3, Conv 9", including nested bodies.
std::string BodyText(const onnx::GraphProto& body);

// True for a node of the standard with a converter, or an If. Does not check
// the opset, or whether it calls a function of the model.
bool IsSupported(const onnx::NodeProto& node);

// Every unsupported node among the nodes and in the functions that they call,
// each function once: "Foo of domain x (node n)".
std::vector<std::string> FindUnsupported(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int opset,
    const ModelFunctions& functions);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_OP_CHECK_H_
