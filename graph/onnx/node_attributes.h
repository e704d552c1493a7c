// Which attributes a node may have, and which values have no effect here.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_NODE_ATTRIBUTES_H_
#define PARTITA_GRAPH_ONNX_NODE_ATTRIBUTES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/onnx/node_import.h"

namespace partita {

// An attribute that no converter reads.
struct NeutralAttribute {
  const char* op_type;
  const char* name;
  // True if the node computes the same with this value as without the
  // attribute.
  bool (*changes_nothing)(const NodeImport& node,
                          const onnx::AttributeProto& value);
  const char* expected;  // for a value with an effect
};

absl::Span<const NeutralAttribute> NeutralAttributes();

// True if the row lists the attribute among those that its converter reads.
bool ReadsAttribute(const ConverterRow& row, absl::string_view name);

// Before the conversion: each attribute of the node occurs once, and either its
// converter reads it or its value has no effect here.
absl::Status CheckAttributes(const NodeImport& node, const ConverterRow& row);

// After it: each attribute had the kind that the converter asked for, and the
// converter asked for all of the node's attributes.
absl::Status CheckAttributesRead(const NodeImport& node,
                                 const ConverterRow& row);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_NODE_ATTRIBUTES_H_
